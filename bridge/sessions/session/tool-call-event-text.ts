import type { ToolCallEvent } from '../../../shared/protocol/tool-approval.ts';
import { decidedByText } from '../../../shared/text/decided-by-text.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';

const MAX_TITLE_CHARACTERS = 200;

/** Describes a step of a tool call on one line. Returns undefined for output, which is not a step. */
export function toolCallEventText(activity: ToolCallEvent): string | undefined {
  const tool = visibleLine(activity.tool);
  const title = visibleLine(activity.title, MAX_TITLE_CHARACTERS);
  switch (activity.type) {
    case 'tool.requested':
      if (activity.question) return `${tool} waits for an answer: ${title}`;
      return activity.asks ? `${tool} waits for approval: ${title}` : `${tool} is next: ${title}`;
    case 'tool.decided':
      return `${tool}: ${decidedByText(activity)}`;
    case 'tool.started':
      return `${tool} runs: ${title}`;
    case 'tool.finished':
      return `${tool}: ${activity.outcome}`;
    case 'tool.output':
      return undefined;
  }
}
