/** The announcement of results that no client has collected. Pure. */
import { z } from 'zod';
import { visibleLine } from '../../shared/text/visible-text.ts';
import { type WaitingResult, waitingResult } from '../state/waiting-result.ts';
import type { ToolName } from '../tool-names/tool-name.ts';

/** What a client is told of with one answer. */
export interface Announcement {
  results: readonly WaitingResult[];
  /** How many more wait. */
  more: number;
}

/** Told one by one; of more than these only the number. */
const TOLD_AT_ONCE = 10;

/** Everything that is new, newest last. */
export function announcementOf(results: readonly WaitingResult[]): Announcement {
  const told = results.slice(-TOLD_AT_ONCE);
  return { results: told, more: results.length - told.length };
}

/** As text for the head of an answer; '' when there is nothing to say. */
export function announcementText({ results, more }: Announcement, name: (tool: ToolName) => string): string {
  if (results.length === 0) return '';
  return [
    `Finished while nobody looked; said once, kept until collected with ${name('wait_for_task')}:`,
    ...results.map(
      ({ sessionId, agent, state, title }) =>
        `- session ${sessionId} (${agent}): ${state}${title === '' ? '' : ` — ${visibleLine(title)}`}`,
    ),
    more === 0 ? '' : `… and ${String(more)} more: ${name('list_all_active_sessions')} has them.`,
  ]
    .filter((line) => line !== '')
    .join('\n');
}

/** Any tool's output, with room for what waits. */
export function withWaitingResults(output: z.ZodObject): z.ZodObject {
  return output.extend({
    waitingResults: z
      .array(waitingResult)
      .optional()
      .describe('Tasks that ended while nobody looked. Said once; wait_for_task has the result of each.'),
  });
}
