import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  firstSnapshot,
  foldEntry,
  foldAll,
  foldEntries,
  foldNextEvents,
} from '../../../../a2a-server/task/fold.ts';
import type { JournalEntry, TaskEvent } from '../../../../a2a-server/task/events.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { decidedEvent, entriesFrom, taskAfter, turnEventsWith } from '../../../support/folded-task.ts';
import { completed, created, message, working } from '../../../support/journal-samples.ts';
import { request } from '../../../support/task-machine.ts';

const turns = fc.integer({ min: 1, max: 3 });

/** Generates mostly text events, for the current turn and for other turns. */
const event: fc.Arbitrary<TaskEvent> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('text.delta' as const),
      turn: turns,
      text: fc.string({ maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('turn.started' as const),
      turn: turns,
      model: fc.constant('m'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('turn.abandoned' as const),
      turn: turns,
      reason: fc.constant('cut'),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(working, message('more'), completed) },
);

const life: fc.Arbitrary<JournalEntry[]> = fc
  .array(event, { maxLength: 40 })
  .map((events) => entriesFrom([created('session'), message('do it'), ...events], 1_000));

function oneByOne(entries: readonly JournalEntry[]): Snapshot | undefined {
  const [first, ...rest] = entries;
  const start = first && firstSnapshot('t', first);
  return start && rest.reduce(foldEntry, start);
}

const update = (artifactId: string, text: string, append: boolean): TaskEvent => ({
  type: 'artifact.updated',
  turn: 1,
  artifact: { artifactId, name: '', description: '', parts: [{ type: 'text', text }] },
  append,
  lastChunk: false,
});

describe('foldOn, which folds several entries', () => {
  it('J2 foldOn gives the same snapshot as folding each entry alone', () => {
    fc.assert(fc.property(life, (entries) => expect(foldAll('t', entries)).toEqual(oneByOne(entries))));
  });

  it('J2 foldOn gives the same snapshot for every split of the entries', () => {
    fc.assert(
      fc.property(life, fc.nat(40), (entries, at) => {
        const start = foldAll('t', entries.slice(0, at + 1));
        expect(start && foldEntries(start, entries.slice(at + 1))).toEqual(oneByOne(entries));
      }),
    );
  });

  it('foldOn does not change the first snapshot', () => {
    fc.assert(
      fc.property(life, (entries) => {
        const start = foldAll('t', entries);
        const copy = structuredClone(start);
        if (start) foldEntries(start, entries);
        expect(start).toEqual(copy);
        expect(oneByOne(entries)).toEqual(foldAll('t', entries));
      }),
    );
  });

  it('foldOn returns undefined without a first entry', () => {
    expect(foldAll('t', [])).toBeUndefined();
    expect(foldAll('t', [{ seq: 1, at: 1, event: working }])).toBeUndefined();
  });
});

describe('foldNextEvents, which numbers new events', () => {
  it('foldNextEvents gives the events the next numbers, and by default the time of the last entry', () => {
    const start = taskAfter(working);
    const next = foldNextEvents(start, [working, message('more')]);
    expect(next).toMatchObject({ seq: start.seq + 2, messageSeq: start.seq + 2, updatedAt: start.updatedAt });
    expect(foldNextEvents(start, [working], 7).updatedAt).toBe(7);
  });
});

describe('the fold of task events', () => {
  const started: TaskEvent = { type: 'turn.started', turn: 1, model: 'm' };
  const usage = { inputTokens: 5, outputTokens: 1 };

  it('the fold adds the cost of a summary to the summary’s model, and nothing for a summary without a model', () => {
    const upTo = { taskId: 't', turn: 1 };
    const summarised = (model: string | null): TaskEvent => ({
      type: 'context.summarised',
      upTo,
      summary: '',
      model,
      usage,
    });
    expect(taskAfter(summarised('m')).spending).toEqual({ m: { ...usage, usd: null } });
    expect(taskAfter(summarised(null)).spending).toEqual({});
  });

  it('the fold appends the parts of an artifact, or replaces them, and keeps other artifacts', () => {
    const both = taskAfter(started, update('x', 'one', false), update('y', 'other', false));
    const texts = [true, false].map((append) =>
      foldNextEvents(both, [update('x', 'two', append)]).openTurn?.artifacts.map(({ parts }) =>
        parts.map((part) => 'text' in part && part.text),
      ),
    );
    expect(texts).toEqual([
      [['one', 'two'], ['other']],
      [['two'], ['other']],
    ]);
  });

  it('the fold sets a note only for a turn that has not ended', () => {
    const noted: TaskEvent = { type: 'turn.noted', turn: 1, text: 'reads' };
    expect(taskAfter(working, started, noted).status).toEqual({ state: 'working', note: 'reads' });
    expect(taskAfter(working, noted).status).toEqual({ state: 'working' });
  });

  it('the snapshot of a task that asks in text contains the question', () => {
    const asks: TaskEvent = { type: 'input.required', pending: [], question: 'Which?' };
    expect(taskAfter(asks).status).toMatchObject({
      state: 'input-required',
      pending: [],
      question: 'Which?',
    });
  });

  it('the fold keeps the first decision of a call, and ignores unknown calls', () => {
    const waits = taskAfter(...turnEventsWith([{ call: request('a', false), ask: true }]));
    const once = foldNextEvents(waits, [decidedEvent('a')]);
    expect(foldNextEvents(once, [decidedEvent('a', { decision: 'deny' })]).calls).toEqual(once.calls);
    const runs: TaskEvent = { type: 'tool.started', callId: 'b', tool: 't', title: 'B', toolId: 'x' };
    expect(foldNextEvents(waits, [decidedEvent('b'), runs]).calls).toEqual(waits.calls);
  });

  it('the fold withdraws a tool’s question only if it waits', () => {
    const waits = taskAfter(...turnEventsWith([{ call: request('a', false), ask: true }]));
    const withdrew: TaskEvent = { type: 'tool.withdrew', callId: 'a', tool: 'write-file', title: 'A' };
    expect(foldNextEvents(waits, [withdrew]).calls).toEqual(waits.calls);
  });
});
