/** A task from its events, without a journal. */
import { isRefusal, type CommandOutcome } from '../../a2a-server/task/command-outcome.ts';
import type { JournalEntry, RequestedCall, TaskEvent, TurnEnd } from '../../a2a-server/task/events.ts';
import { firstSnapshot, foldAll, foldNextEvents } from '../../a2a-server/task/fold.ts';
import { parkOrContinue } from '../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../a2a-server/task/snapshot.ts';
import { created } from './journal-samples.ts';

/** The journal entries of these events. @param msApart the time between two events */
export function entriesFrom(events: readonly TaskEvent[], msApart = 0): JournalEntry[] {
  return events.map((event, index) => ({ seq: index + 1, at: index * msApart, event }));
}

/** The task of a whole journal. @throws if its events begin no task */
export function foldedTask(events: readonly TaskEvent[], taskId = 't', msApart = 0): Snapshot {
  const snapshot = foldAll(taskId, entriesFrom(events, msApart));
  if (snapshot === undefined) throw new Error('the events begin no task');
  return snapshot;
}

/** The task `t` of `ada` after its creation and these events. */
export function taskAfter(...events: TaskEvent[]): Snapshot {
  const start = firstSnapshot('t', { seq: 1, at: 1, event: created('s', 'ada') });
  if (start === undefined) throw new Error('no task');
  return foldNextEvents(start, events);
}

/** @returns the events of an accepted command */
export function eventsOf(outcome: CommandOutcome): readonly TaskEvent[] {
  if (isRefusal(outcome)) throw new Error(outcome.message);
  return outcome;
}

/** @returns the task, parked by the event that its waiting calls require */
export function parkedTask(snapshot: Snapshot): Snapshot {
  return foldNextEvents(snapshot, [parkOrContinue(snapshot)]);
}

/** The events of a turn without calls. */
export function spokenTurn(
  turn: number,
  text: string,
  end: TurnEnd = 'stop',
  usage = { inputTokens: 1, outputTokens: 1 },
): TaskEvent[] {
  return [
    { type: 'turn.started', turn, model: 'm' },
    { type: 'text.delta', turn, text },
    { type: 'turn.finished', turn, end, usage },
  ];
}

type Decided = Extract<TaskEvent, { type: 'tool.decided' }>;

/** An approval of `ada` for the call of a file. */
export function decidedEvent(callId: string, changes: Partial<Decided> = {}): Decided {
  return {
    type: 'tool.decided',
    callId,
    tool: 'write-file',
    title: `Call ${callId}`,
    decision: 'approve',
    scope: 'once',
    by: { principal: 'ada', channel: 'test' },
    inputHash: 'h',
    reason: null,
    edited: null,
    ...changes,
  };
}

/** The events of a call that runs and succeeds. */
export function ranCall(
  { callId, tool, title }: Pick<RequestedCall, 'callId' | 'tool' | 'title'>,
  text = '',
  toolId = `x-${callId}`,
): TaskEvent[] {
  const reference = { callId, tool, title, toolId };
  return [
    { type: 'tool.started', ...reference },
    { type: 'tool.finished', ...reference, outcome: { type: 'ok', text, summary: 'done' } },
  ];
}

/** @returns the events of a turn that requests these calls. If `ask` is set, a person decides or answers the call. */
export function turnEventsWith(
  calls: readonly { call: RequestedCall; ask: boolean }[],
  { turn = 1, end = 'tool-calls' }: { turn?: number; end?: TurnEnd } = {},
): TaskEvent[] {
  return [
    { type: 'turn.started', turn, model: 'm' },
    ...calls.map(({ call, ask }): TaskEvent => ({
      type: 'tool.requested',
      turn,
      call,
      verdict: ask
        ? { type: call.preview.type === 'question' ? 'question' : 'ask' }
        : { type: 'allow', because: { type: 'auto-execute' } },
    })),
    { type: 'turn.finished', turn, end, usage: { inputTokens: 0, outputTokens: 0 } },
  ];
}
