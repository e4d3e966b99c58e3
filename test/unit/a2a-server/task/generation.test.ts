import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toStreamResponse } from '../../../../a2a-server/http/wire/event-projection.ts';
import type { JournalEntry, TaskEvent } from '../../../../a2a-server/task/events.ts';
import { foldAll } from '../../../../a2a-server/task/fold.ts';
import {
  eventCountAfter,
  eventCountAfterAll,
  generationMismatchRefusal,
  generationOf,
  NO_EVENTS,
  type EventCount,
} from '../../../../a2a-server/task/generation.ts';
import { taskAfter, entriesFrom } from '../../../support/folded-task.ts';
import { message, working } from '../../../support/journal-samples.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';
import { moves, TaskMachine } from '../../../support/task-machine.ts';

/** Events that the machine never appends. Most of them are hidden. */
const MORE: readonly TaskEvent[] = [
  { type: 'reasoning.delta', turn: 1, text: 'hmm' },
  { type: 'reasoning.delta', turn: 1, text: ' so' },
  message('and this'),
  { type: 'abort.requested', callId: 'c', toolId: 't', principal: 'ada', reason: 'no' },
  { type: 'files.saved', callId: 'c', toolId: 't', files: [] },
  { type: 'context.clipped', upTo: { taskId: 't', turn: 1 }, chars: 9 },
  { type: 'context.exceeded' },
  { type: 'grant.revoked', grantIds: [], by: { principal: 'ada', channel: 'page' } },
  { type: 'agent.session', turn: 1, agentSessionId: 'x' },
];

/** A journal of a whole life of a task, with more events at any place after the first. */
const journals = fc
  .tuple(moves, fc.array(fc.record({ place: fc.nat(200), event: fc.constantFrom(...MORE) })))
  .map(([sequence, more]): JournalEntry[] => {
    const machine = new TaskMachine();
    for (const move of sequence) machine.apply(move);
    const events = machine.entries.map(({ event }) => event);
    for (const { place, event } of more) events.splice(1 + (place % events.length), 0, event);
    return entriesFrom(events, 1);
  });

const cuts = fc.nat(1_000);
const sights = fc.record({ thinking: fc.boolean() });

/** The number of each event that a client gets, and the count after the last entry. */
function numbered(entries: readonly JournalEntry[], start: EventCount, sight: { thinking: boolean }) {
  const view = { taskId: 't', sessionId: 's', approval: true, resumable: true, ...sight };
  let counted = start;
  const events: { seq: number; generation: number }[] = [];
  for (const entry of entries) {
    counted = eventCountAfter(counted, entry.event);
    if (toStreamResponse(entry, view) !== undefined)
      events.push({ seq: entry.seq, generation: generationOf(counted, sight) });
  }
  return { events, counted };
}

describe('the generation of a task, for generated journals', () => {
  it('S1 each event that a client gets has the next number, from 1, with reasoning and without', () => {
    fc.assert(
      fc.property(journals, sights, (entries, sight) => {
        const generations = numbered(entries, NO_EVENTS, sight).events.map(({ generation }) => generation);
        expect(generations).toEqual(generations.map((_, index) => index + 1));
      }),
      { numRuns: numberOfRuns(500) },
    );
  });

  it('R25 a replay from any cut gives the events the same numbers', () => {
    fc.assert(
      fc.property(journals, cuts, sights, (entries, place, sight) => {
        const cut = place % (entries.length + 1);
        const whole = numbered(entries, NO_EVENTS, sight);
        const { counted } = numbered(entries.slice(0, cut), NO_EVENTS, sight);
        const rest = numbered(entries.slice(cut), counted, sight);
        expect(rest.events).toEqual(whole.events.filter(({ seq }) => seq > cut));
        expect(rest.counted).toEqual(whole.counted);
      }),
      { numRuns: numberOfRuns(500) },
    );
  });

  it('J2 the snapshot has the count of its journal, however the entries are divided', () => {
    fc.assert(
      fc.property(journals, cuts, (entries, place) => {
        const counted = eventCountAfterAll(NO_EVENTS, entries);
        expect(foldAll('t', entries)?.counted).toEqual(counted);
        const cut = place % (entries.length + 1);
        const before = eventCountAfterAll(NO_EVENTS, entries.slice(0, cut));
        expect(eventCountAfterAll(before, entries.slice(cut))).toEqual(counted);
      }),
      { numRuns: numberOfRuns(500) },
    );
  });
});

describe('a message that expects a generation', () => {
  const task = taskAfter(message('go'), working, { type: 'reasoning.delta', turn: 1, text: 'hmm' });

  it.each([{ generation: 2 }, { generation: 3, thinking: true }])('accepts %j', (expected) => {
    expect(generationMismatchRefusal(task, expected)).toBeUndefined();
    expect(generationMismatchRefusal(task, undefined)).toBeUndefined();
  });

  it.each([{ generation: 1 }, { generation: 3 }, { generation: -2 }, { generation: 2, thinking: true }])(
    'refuses %j, and names both generations',
    (expected) => {
      const current = 'thinking' in expected ? 3 : 2;
      expect(generationMismatchRefusal(task, expected)).toMatchObject({
        reason: 'TASK_GENERATION_MISMATCH',
        message: `Task t is at generation ${current}, not ${expected.generation}. Nothing was changed. Get the task, and send the message again if it still fits.`,
        facts: {
          taskId: 't',
          expectedGeneration: String(expected.generation),
          currentGeneration: String(current),
        },
      });
    },
  );
});
