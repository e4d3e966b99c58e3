/** Generates sessions of tasks with turns of any length, to test conversations that exceed the context window. */
import fc from 'fast-check';
import type { JournalEntry, TaskEvent } from '../../a2a-server/task/events.ts';
import { foldAll } from '../../a2a-server/task/fold.ts';
import type { Snapshot } from '../../a2a-server/task/snapshot.ts';

export interface PlannedTurn {
  /** The length of the turn's text. All lengths are in characters. */
  text: number;
  calls: { input: number; result: number }[];
  /** The length of the person's message after the turn; null for no message. */
  message: number | null;
}

export interface PlannedTask {
  first: number;
  turns: PlannedTurn[];
}

const short = fc.nat(400);
const long = fc.integer({ min: 1, max: 60_000 });
const plannedTurn: fc.Arbitrary<PlannedTurn> = fc.record({
  text: fc.oneof({ weight: 4, arbitrary: short }, { weight: 1, arbitrary: long }),
  calls: fc.array(
    fc.record({
      input: short,
      result: fc.oneof({ weight: 3, arbitrary: short }, { weight: 1, arbitrary: long }),
    }),
    { maxLength: 3 },
  ),
  message: fc.option(short, { freq: 4 }),
});
const plannedTask: fc.Arbitrary<PlannedTask> = fc.record({
  first: short,
  turns: fc.array(plannedTurn, { maxLength: 12 }),
});

/** A session with one to three tasks. The last task is active, and its next step is a call to the model. */
export const plannedSession: fc.Arbitrary<PlannedTask[]> = fc.array(plannedTask, {
  minLength: 1,
  maxLength: 3,
});

/** @returns a text with `length` characters between two copies of the name */
export function uniqueText(name: string, length: number): string {
  return `${name}:${'x'.repeat(length)}:${name}`;
}

/** The journal of a planned task. */
export function entriesOf(taskId: string, { first, turns }: PlannedTask, ended: boolean): JournalEntry[] {
  const events: TaskEvent[] = [
    { type: 'task.created', sessionId: 's', principal: 'p', settings: {} },
    said(taskId, uniqueText(`${taskId}-first`, first)),
    { type: 'task.working' },
    ...turns.flatMap((planned, index) => turnEvents(taskId, index + 1, planned)),
    ...(ended ? [{ type: 'task.completed' } as const] : []),
  ];
  return events.map((event, index) => ({ seq: index + 1, at: 0, event }));
}

/** @throws if the entries create no task */
export function snapshotOf(taskId: string, entries: readonly JournalEntry[]): Snapshot {
  const snapshot = foldAll(taskId, entries);
  if (snapshot === undefined) throw new Error('the entries begin no task');
  return snapshot;
}

function said(taskId: string, text: string): TaskEvent {
  return {
    type: 'message.received',
    message: { messageId: `${taskId}-${text.slice(0, 20)}`, parts: [{ type: 'text', text }] },
    channel: 'test',
  };
}

function call(callId: string) {
  return { callId, tool: 'read-file', title: callId };
}

function turnEvents(taskId: string, turn: number, { text, calls, message }: PlannedTurn): TaskEvent[] {
  const ids = calls.map((_, index) => `${taskId}-c${turn}-${index}`);
  return [
    { type: 'turn.started', turn, model: 'm' },
    { type: 'text.delta', turn, text: uniqueText(`${taskId}-t${turn}`, text) },
    ...calls.map(({ input }, index): TaskEvent => ({
      type: 'tool.requested',
      turn,
      call: {
        ...call(ids[index] ?? ''),
        modelCallId: ids[index] ?? '',
        input: { path: 'x'.repeat(input) },
        inputHash: `${input}`,
        sideEffect: 'none',
        source: { type: 'built-in' },
        preview: { type: 'json', value: {} },
        basis: null,
      },
      verdict: { type: 'allow', because: { type: 'read-only' } },
    })),
    { type: 'turn.finished', turn, end: 'tool-calls', usage: { inputTokens: 0, outputTokens: 0 } },
    ...calls.flatMap(({ result }, index): TaskEvent[] => {
      const callId = ids[index] ?? '';
      const outcome = { type: 'ok' as const, text: uniqueText(callId, result), summary: 'read' };
      return [
        { type: 'tool.started', ...call(callId), toolId: `x-${callId}` },
        { type: 'tool.finished', ...call(callId), toolId: `x-${callId}`, outcome },
      ];
    }),
    ...(message === null ? [] : [said(taskId, uniqueText(`${taskId}-m${turn}`, message))]),
  ];
}
