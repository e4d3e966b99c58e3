import type { Plan, SessionUpdate, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk';
import type { Artifact, ArtifactPart } from '../../task/events.ts';
import { cutMiddle } from '../../../shared/text/shortened-text.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { unifiedFileDiff } from '../../../shared/text/unified-diff.ts';
import type { ModelEvent } from '../model.ts';
import {
  asRelativePath,
  contentBlockText,
  toolCallDiffs,
  hasToolCallEnded,
  toolCallText,
} from './read-tool-call.ts';

const MAX_NOTE_CHARS = 300;
const MAX_OUTPUT_CHARS = 30_000;

/** The kinds of tools whose results create no artifact. The agent repeats these results in its text. */
const READING_KINDS = new Set<ToolKind>(['read', 'search', 'think', 'fetch']);

const MARKS = { pending: ' ', in_progress: '~', completed: 'x' } as const;

export class AcpSessionUpdates {
  readonly #workspace: string;
  #thought = '';
  /**
   * What the agent has sent so far. With `words-before`, a tool call followed the text, so the next text starts a new
   * paragraph.
   */
  #spoken: 'nothing' | 'words' | 'words-before' = 'nothing';

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  /** Converts one update. @param toolCall the tool call of the update, with all its updates merged */
  *of(update: SessionUpdate, toolCall: ToolCallUpdate | undefined): Generator<ModelEvent> {
    if (update.sessionUpdate === 'agent_thought_chunk') {
      const piece = contentBlockText(update.content);
      this.#thought += piece;
      if (piece.includes('\n')) yield* this.thought();
      return;
    }
    yield* this.thought();
    switch (update.sessionUpdate) {
      case 'agent_message_chunk': {
        const paragraph = this.#spoken === 'words-before' ? '\n\n' : '';
        this.#spoken = 'words';
        yield { type: 'text', text: paragraph + contentBlockText(update.content) };
        break;
      }
      case 'plan':
        yield artifactEvent(planOf(update));
        break;
      case 'tool_call':
      case 'tool_call_update':
        if (this.#spoken === 'words') this.#spoken = 'words-before';
        if (toolCall) yield* this.#toolCall(update, toolCall);
        break;
      case 'current_mode_update':
        yield { type: 'note', text: oneLineExcerpt(`Mode: ${update.currentModeId}`, MAX_NOTE_CHARS) };
        break;
      case 'user_message_chunk':
      case 'available_commands_update':
      case 'config_option_update':
      case 'session_info_update':
      case 'usage_update':
      case 'notice':
      case 'compaction_update':
      case 'compaction_summary_chunk':
        // Only editors need these updates, so they have no effect here.
        break;
    }
  }

  /** Yields the last line of the agent's thoughts as a note, and clears the thoughts. */
  *thought(): Generator<ModelEvent> {
    const line = this.#thought
      .split('\n')
      .map((text) => text.trim())
      .findLast((text) => text !== '');
    this.#thought = '';
    if (line !== undefined) yield { type: 'note', text: oneLineExcerpt(line, MAX_NOTE_CHARS) };
  }

  *#toolCall(update: SessionUpdate, toolCall: ToolCallUpdate): Generator<ModelEvent> {
    const title = oneLineExcerpt(
      toolCall.title ?? toolCall.name ?? toolCall.kind ?? 'Tool call',
      MAX_NOTE_CHARS,
    );
    if (update.sessionUpdate === 'tool_call') yield { type: 'note', text: title };
    if (!hasToolCallEnded(toolCall)) return;
    if (toolCall.status === 'failed') yield { type: 'note', text: `${title}: failed` };
    const parts = contentPartsOfToolCall(toolCall, this.#workspace);
    if (parts.length === 0 || READING_KINDS.has(toolCall.kind ?? 'other')) return;
    yield artifactEvent({ artifactId: `tool-${toolCall.toolCallId}`, name: title, description: '', parts });
  }
}

/** Returns the file changes and the output of a tool call as text. */
export function contentPartsOfToolCall(toolCall: ToolCallUpdate, workspace: string): ArtifactPart[] {
  const changes = toolCallDiffs(toolCall).map(({ path, oldText, newText }) =>
    unifiedFileDiff(asRelativePath(workspace, path), oldText ?? undefined, newText),
  );
  return [...changes, toolCallText(toolCall)]
    .filter((text) => text !== '')
    .map((text) => ({ type: 'text', text: cutMiddle(text, MAX_OUTPUT_CHARS) }));
}

function planOf({ entries }: Plan): Artifact {
  const lines = entries.map(
    ({ content, status }) => `- [${MARKS[status]}] ${oneLineExcerpt(content, MAX_NOTE_CHARS)}`,
  );
  return {
    artifactId: 'plan',
    name: 'Plan',
    description: "The agent's plan and its progress.",
    parts: [
      { type: 'text', text: lines.join('\n') },
      {
        type: 'data',
        data: { entries: entries.map(({ content, priority, status }) => ({ content, priority, status })) },
      },
    ],
  };
}

function artifactEvent(artifact: Artifact): ModelEvent {
  return { type: 'artifact', artifact, append: false, lastChunk: true };
}
