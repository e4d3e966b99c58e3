/** What an ACP agent says while it works, as what a turn gives: words, notes, artifacts. Pure but for what it remembers. */
import type { Plan, SessionUpdate, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk';
import type { Artifact, ContentPart } from '../../task/events.ts';
import { capped } from '../../../shared/text/capped-text.ts';
import { oneLine } from '../../../shared/text/one-line.ts';
import { unifiedDiff } from '../../../shared/text/unified-diff.ts';
import type { ModelEvent } from '../model.ts';
import { pathInWorkspace } from './path-in-workspace.ts';
import { blockText, diffsOf, hasEnded, textOf } from './tool-call.ts';

const MAX_NOTE = 300;
const MAX_OUTPUT = 30_000;

/** What only looks gives nothing of its own: it is in what the agent says of it. */
const LOOKS = new Set<ToolKind>(['read', 'search', 'think', 'fetch']);

const MARKS = { pending: ' ', in_progress: '~', completed: 'x' } as const;

export class SessionUpdates {
  readonly #workspace: string;
  #thought = '';
  /** Words after a tool call are a paragraph of their own. */
  #spoken: 'nothing' | 'words' | 'words-before' = 'nothing';

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  /** @param toolCall all that is known of the tool call the update is about. */
  *of(update: SessionUpdate, toolCall: ToolCallUpdate | undefined): Generator<ModelEvent> {
    if (update.sessionUpdate === 'agent_thought_chunk') {
      this.#thought += blockText(update.content);
      if (this.#thought.includes('\n')) yield* this.thought();
      return;
    }
    yield* this.thought();
    switch (update.sessionUpdate) {
      case 'agent_message_chunk': {
        const paragraph = this.#spoken === 'words-before' ? '\n\n' : '';
        this.#spoken = 'words';
        yield { type: 'text', text: paragraph + blockText(update.content) };
        break;
      }
      case 'plan':
        yield given(planOf(update));
        break;
      case 'tool_call':
      case 'tool_call_update':
        if (this.#spoken === 'words') this.#spoken = 'words-before';
        if (toolCall) yield* this.#toolCall(update, toolCall);
        break;
      case 'current_mode_update':
        yield { type: 'note', text: oneLine(`Mode: ${update.currentModeId}`, MAX_NOTE) };
        break;
      case 'user_message_chunk':
      case 'available_commands_update':
      case 'config_option_update':
      case 'session_info_update':
      case 'usage_update':
      case 'notice':
      case 'compaction_update':
      case 'compaction_summary_chunk':
        // For editors: what the person has typed, which commands there are, how full the window is.
        break;
    }
  }

  /** What it has thought so far, when it turns to something else: its last line. */
  *thought(): Generator<ModelEvent> {
    const line = this.#thought
      .split('\n')
      .map((text) => text.trim())
      .findLast((text) => text !== '');
    this.#thought = '';
    if (line !== undefined) yield { type: 'note', text: oneLine(line, MAX_NOTE) };
  }

  *#toolCall(update: SessionUpdate, toolCall: ToolCallUpdate): Generator<ModelEvent> {
    const title = oneLine(toolCall.title ?? toolCall.name ?? toolCall.kind ?? 'Tool call', MAX_NOTE);
    if (update.sessionUpdate === 'tool_call') yield { type: 'note', text: title };
    if (!hasEnded(toolCall)) return;
    if (toolCall.status === 'failed') yield { type: 'note', text: `${title}: failed` };
    const parts = partsOf(toolCall, this.#workspace);
    if (parts.length === 0 || LOOKS.has(toolCall.kind ?? 'other')) return;
    yield given({ artifactId: `tool-${toolCall.toolCallId}`, name: title, description: '', parts });
  }
}

/** The changes a tool call has made and what it has put out, as text. */
export function partsOf(toolCall: ToolCallUpdate, workspace: string): ContentPart[] {
  const changes = diffsOf(toolCall).map(({ path, oldText, newText }) =>
    unifiedDiff(pathInWorkspace(workspace, path), oldText ?? undefined, newText),
  );
  return [...changes, textOf(toolCall)]
    .filter((text) => text !== '')
    .map((text) => ({ type: 'text', text: capped(text, MAX_OUTPUT) }));
}

function planOf({ entries }: Plan): Artifact {
  const lines = entries.map(({ content, status }) => `- [${MARKS[status]}] ${oneLine(content, MAX_NOTE)}`);
  return {
    artifactId: 'plan',
    name: 'Plan',
    description: 'What the agent means to do, and how far it is.',
    parts: [
      { type: 'text', text: lines.join('\n') },
      {
        type: 'data',
        data: { entries: entries.map(({ content, priority, status }) => ({ content, priority, status })) },
      },
    ],
  };
}

/** The whole of it, in the place of what it was before. */
function given(artifact: Artifact): ModelEvent {
  return { type: 'artifact', artifact, append: false, lastChunk: true };
}
