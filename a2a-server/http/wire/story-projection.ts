/**
 * Converts journal entries to the story of a task. The story leaves out saved file contents and data for providers. It
 * has the model's reasoning only for readers that request it. No I/O.
 */
import { answerText, toolSourceText } from '../../../shared/protocol/preview-text.ts';
import type { StoryEvent } from '../../../shared/protocol/task-story.ts';
import { cutMiddle } from '../../../shared/text/shortened-text.ts';
import { SUMMARY_NOTICE } from '../../task/shortened-context.ts';
import { TODO_REMINDER_NOTE } from '../../task/todo-reminder.ts';
import type {
  ArtifactPart,
  JournalEntry,
  MessagePart,
  RequestedCall,
  RecordedFileChange,
  TaskEvent,
} from '../../task/events.ts';
import { instructionsNote } from '../../task/instructions.ts';
import { policyVerdictText } from '../../task/policy-verdict-text.ts';
import { canceledText, outcomeSummary } from './event-projection.ts';

/** The maximum length of an input field, a result or a piece of output, in UTF-16 units. */
const MAX_DETAIL_CHARS = 20_000;
/** The maximum length of a message. */
const MAX_MESSAGE_CHARS = 100_000;

/**
 * Converts journal entries to the events of the story. Adjacent pieces of one text become one event.
 * @param withReasoning true to keep the model's reasoning
 */
export function toStoryEvents(entries: readonly JournalEntry[], withReasoning: boolean): StoryEvent[] {
  const events: StoryEvent[] = [];
  for (const { seq, at, event } of entries) {
    const next = storyEvent(event);
    if (next === undefined || (next.type === 'reasoning' && !withReasoning)) continue;
    const last = events.at(-1);
    if (last?.type === 'text' && next.type === 'text' && last.turn === next.turn) last.text += next.text;
    else if (last?.type === 'reasoning' && next.type === 'reasoning' && last.turn === next.turn)
      last.text += next.text;
    else if (last?.type === 'output' && next.type === 'output' && last.toolId === next.toolId)
      last.text = (last.text + next.text).slice(-MAX_DETAIL_CHARS);
    else events.push({ seq, at, ...next });
  }
  return events;
}

type WithoutPlace<Event> = Event extends unknown ? Omit<Event, 'seq' | 'at'> : never;

function storyEvent(event: TaskEvent): WithoutPlace<StoryEvent> | undefined {
  switch (event.type) {
    case 'message.received': {
      const { parts } = event.message;
      const text = cutMiddle(partsText(parts), MAX_MESSAGE_CHARS);
      return { type: 'message', channel: event.channel, text, files: filesIn(parts) };
    }
    case 'turn.started':
      return { type: 'turn', turn: event.turn, model: event.model };
    case 'text.delta':
      return { type: 'text', turn: event.turn, text: event.text };
    case 'reasoning.delta':
      return { type: 'reasoning', turn: event.turn, text: event.text };
    case 'todos.updated':
      return { type: 'todos', todos: [...event.todos] };
    case 'artifact.updated': {
      const { artifactId, name, parts } = event.artifact;
      const text = cutMiddle(partsText(parts), MAX_MESSAGE_CHARS);
      return { type: 'artifact', artifactId, name, text, append: event.append };
    }
    case 'turn.abandoned':
      return { type: 'abandoned', turn: event.turn, reason: event.reason };
    case 'instructions.read':
      return { type: 'note', text: instructionsNote(event.files) };
    case 'context.summarised':
      return { type: 'note', text: SUMMARY_NOTICE };
    case 'todos.reminded':
      return { type: 'note', text: TODO_REMINDER_NOTE };
    case 'turn.noted':
    case 'model.unavailable':
    case 'process.orphaned':
    case 'workspace.unavailable':
    case 'task.queued':
      return { type: 'note', text: event.text };
    case 'tool.requested':
      return requestedEvent(event.call, policyVerdictText(event.verdict), event.verdict.type === 'refuse');
    case 'tool.asked':
      return requestedEvent(event.call, 'question of a running tool', false);
    case 'tool.outdated':
      return { type: 'outdated', callId: event.callId };
    case 'tool.decided': {
      const { callId, decision, scope, by, reason, edited, answer, presence } = event;
      return {
        type: 'decided',
        callId,
        decision,
        scope,
        by: by.principal,
        channel: by.channel,
        reason: reason ?? '',
        edited: edited && { title: edited.title, input: inputTexts(edited.input) },
        answer: answer === undefined ? null : cutMiddle(answerText(answer), MAX_DETAIL_CHARS),
        ...(presence && { passkey: presence.passkey.name }),
      };
    }
    case 'tool.started':
      return { type: 'started', callId: event.callId, toolId: event.toolId };
    case 'tool.output': {
      // `kept` marks the complete result of a long output. The story omits it, because it repeats output that the
      // story already has.
      if (event.kept === true) return undefined;
      const { callId, toolId, text } = event;
      return { type: 'output', callId, toolId, text: text.slice(-MAX_DETAIL_CHARS) };
    }
    case 'tool.finished': {
      const { callId, toolId, outcome } = event;
      return {
        type: 'finished',
        callId,
        toolId,
        outcome: outcome.type,
        summary: outcomeSummary(outcome),
        result: outcome.type === 'error' ? '' : cutMiddle(outcome.text, MAX_DETAIL_CHARS),
        ...(outcome.type === 'stopped' && { stopReason: outcome.reason }),
      };
    }
    case 'tool.interrupted': {
      const { callId, toolId, rerun } = event;
      const summary = rerun
        ? 'The server stopped while the tool ran. The tool has no side effects and runs again.'
        : 'The server stopped while the tool ran. Its outcome is unknown.';
      return { type: 'finished', callId, toolId, outcome: 'unknown', summary, result: '' };
    }
    case 'tool.withdrew':
      return { type: 'withdrawn', callId: event.callId };
    case 'files.saved': {
      const files = event.files.map((file) => ({ path: file.path, change: changeOf(file) }));
      return { type: 'files', callId: event.callId, files };
    }
    case 'grant.revoked': {
      const { by, grantIds } = event;
      return { type: 'revoked', by: by.principal, channel: by.channel, count: grantIds.length };
    }
    case 'input.required':
      // If tool calls are pending, their own events already show that the task waits.
      return event.pending.length > 0 ? undefined : { type: 'question', text: event.question ?? '' };
    case 'auth.required':
      return { type: 'question', text: event.question };
    case 'task.completed':
      return { type: 'ended', state: 'completed', text: event.message ?? '' };
    case 'task.failed':
      return { type: 'ended', state: 'failed', text: event.message };
    case 'task.rejected':
      return { type: 'ended', state: 'rejected', text: event.message };
    case 'task.canceled':
      return { type: 'ended', state: 'canceled', text: canceledText(event.by, event.reason) };
    case 'abort.requested':
    case 'task.created':
    case 'task.working':
    case 'agent.session':
    case 'turn.finished':
    case 'context.clipped':
    case 'context.exceeded':
      return undefined;
  }
}

function requestedEvent(call: RequestedCall, verdict: string, refused: boolean): WithoutPlace<StoryEvent> {
  const { callId, tool, title, input, source } = call;
  return {
    type: 'requested',
    callId,
    tool,
    title,
    input: inputTexts(input),
    source: source.type === 'built-in' ? '' : toolSourceText(source),
    verdict,
    refused,
  };
}

function inputTexts(input: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      cutMiddle(typeof value === 'string' ? value : JSON.stringify(value, null, 2), MAX_DETAIL_CHARS),
    ]),
  );
}

function changeOf({ before, after }: RecordedFileChange): 'created' | 'changed' | 'deleted' {
  if (before.type === 'absent') return 'created';
  return after.type === 'absent' ? 'deleted' : 'changed';
}

function partsText(parts: readonly (MessagePart | ArtifactPart)[]): string {
  return parts
    .flatMap((part) => {
      if (part.type === 'text') return [part.text];
      return part.type === 'data' ? [JSON.stringify(part.data, null, 2)] : [];
    })
    .join('\n');
}

function filesIn(parts: readonly MessagePart[]): { name: string; mediaType: string; bytes: number }[] {
  return parts.flatMap((part) => {
    if (part.type !== 'stored-file') return [];
    const { name = 'file', mediaType, bytes } = part.file;
    return [{ name, mediaType, bytes }];
  });
}
