/** A task from its events, without a journal. */
import { isRefusal, type CommandOutcome } from '../../a2a-server/task/command-outcome.ts';
import type { RequestedCall, TaskEvent, TurnEnd } from '../../a2a-server/task/events.ts';
import { firstSnapshot, foldNextEvents } from '../../a2a-server/task/fold.ts';
import { parkOrContinue } from '../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../a2a-server/task/snapshot.ts';
import { created } from './journal-samples.ts';

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
