import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  buildConversation,
  conversationSegments,
} from '../../../../../a2a-server/task/conversation/conversation.ts';
import type { JournalEntry, TaskEvent } from '../../../../../a2a-server/task/events.ts';
import { foldEntry } from '../../../../../a2a-server/task/fold.ts';
import {
  nextContextReduction,
  eventAfterFailedSummary,
  estimatePromptTokens,
  estimateTokens,
  type ContextWindow,
} from '../../../../../a2a-server/task/conversation/context-reduction.ts';
import type { Snapshot } from '../../../../../a2a-server/task/snapshot.ts';
import type { TurnPart } from '../../../../../a2a-server/task/replay-provider-data.ts';
import { summaryTranscript } from '../../../../../a2a-server/task/conversation/summary-transcript.ts';
import { spokenTurn, turnEventsWith } from '../../../../support/folded-task.ts';
import {
  entriesOf,
  plannedSession,
  snapshotOf,
  uniqueText,
  type PlannedTask,
} from '../../../../support/long-session.ts';
import { numberOfRuns } from '../../../../support/property-runs.ts';
import { request } from '../../../../support/task-machine.ts';

const NOTHING = { inputTokens: 0, outputTokens: 0 };

class Session {
  readonly planned: readonly PlannedTask[];
  readonly earlier: Snapshot[];
  readonly entries: JournalEntry[];
  current: Snapshot;

  constructor(planned: readonly PlannedTask[]) {
    const last = planned.length - 1;
    const taskId = `k${last}`;
    this.planned = planned;
    this.earlier = planned
      .slice(0, -1)
      .map((task, index) => snapshotOf(`k${index}`, entriesOf(`k${index}`, task, true)));
    this.entries = entriesOf(taskId, planned[last] ?? { first: 0, turns: [] }, false);
    this.current = snapshotOf(taskId, this.entries);
  }

  append(...events: TaskEvent[]): void {
    for (const event of events) {
      const entry = { seq: this.entries.length + 1, at: 0, event };
      this.entries.push(entry);
      this.current = foldEntry(this.current, entry);
    }
  }

  /**
   * Shortens the conversation as the executor does.
   * @returns the new events
   */
  squeeze(room: ContextWindow, summarises: boolean): TaskEvent[] {
    const took: TaskEvent[] = [];
    for (;;) {
      const { current, earlier } = this;
      const squeeze = nextContextReduction(earlier, current, room);
      if (squeeze === undefined) return took;
      if (took.length > 60) throw new Error(`no end: ${took.map((event) => event.type).join(' ')}`);
      const event =
        squeeze.type === 'clip'
          ? squeeze.event
          : summarises
            ? ({
                type: 'context.summarised',
                upTo: squeeze.upTo,
                summary: 's'.repeat(squeeze.tokens * 3),
                model: 'm',
                usage: NOTHING,
              } satisfies TaskEvent)
            : eventAfterFailedSummary(squeeze, earlier, { current, room });
      took.push(event);
      this.append(event);
    }
  }
}

const room = (window: number): ContextWindow => ({ window, beside: 1_000, model: 'm', basis: 'b' });
const windows = fc.integer({ min: 8_000, max: 40_000 });
const cases = { numRuns: numberOfRuns(60) };

function holds(check: (session: Session, room: ContextWindow, took: TaskEvent[]) => void): void {
  fc.assert(
    fc.property(plannedSession, windows, fc.boolean(), (planned, window, summarises) => {
      const session = new Session(planned);
      const took = session.squeeze(room(window), summarises);
      check(session, room(window), took);
    }),
    cases,
  );
}

describe('a shortened conversation', () => {
  it('the conversation fits into two thirds of the window, apart from the parts that always stay', () => {
    holds((session, at) => {
      const { earlier, current } = session;
      const shown = conversationSegments(earlier, current);
      const last = shown.findLastIndex(({ kind }) => kind === 'turn');
      const kept = shown.filter(({ kind }, index) => kind === 'task' || kind === 'summary' || index >= last);
      const always = kept
        .flatMap(({ steps }) => steps)
        .reduce((sum, step) => sum + estimateTokens(JSON.stringify(step)), at.beside);
      // The step keeps parts that are only slightly longer than their summary.
      const filled = ((at.window ?? 0) * 2) / 3;
      const most = Math.max(filled, at.beside + filled / 2);
      expect(estimatePromptTokens(earlier, current, at)).toBeLessThanOrEqual(
        Math.max(most, always + most / 3),
      );
    });
  });

  it('the conversation keeps the first message, the last turn, and the messages after it', () => {
    holds(({ earlier, current, planned }) => {
      const { first, turns } = planned.at(-1) ?? { first: 0, turns: [] };
      const text = uniqueText(`${current.taskId}-first`, first);
      expect(buildConversation(earlier, current)).toContainEqual({ role: 'user', text });
      const last = conversationSegments(earlier, current).findLast(({ kind }) => kind === 'turn');
      if (turns.length > 0) expect(last?.place).toEqual({ taskId: current.taskId, turn: turns.length });
      const after = turns.at(-1)?.message ?? null;
      if (after !== null)
        expect(buildConversation(earlier, current).at(-1)).toEqual({
          role: 'user',
          text: uniqueText(`${current.taskId}-m${turns.length}`, after),
        });
    });
  });

  it('the conversation keeps each call together with its result', () => {
    holds(({ earlier, current }) => {
      const steps = buildConversation(earlier, current);
      for (const [index, step] of steps.entries()) {
        const next = steps[index + 1];
        if (step.role === 'assistant' && step.calls.length > 0)
          expect(next?.role === 'tool' && next.results.map(({ modelCallId }) => modelCallId)).toEqual(
            step.calls.map(({ modelCallId }) => modelCallId),
          );
        if (step.role === 'tool') expect(steps[index - 1]?.role).toBe('assistant');
      }
    });
  });

  it('a conversation that fits stays unchanged', () => {
    holds(({ current }, _, took) => {
      if (took.length === 0) expect(current.context).toMatchObject({ summary: null, clip: null });
    });
  });

  it('J2 the conversation is the same when the server reads the journal again', () => {
    holds(({ earlier, current, entries }) => {
      const anew = snapshotOf(current.taskId, entries);
      expect(buildConversation(earlier, anew)).toEqual(buildConversation(earlier, current));
    });
  });

  it('the conversation still fits as the task continues, and each summary replaces the previous one', () => {
    fc.assert(
      fc.property(plannedSession, windows, (planned, window) => {
        const session = new Session(planned);
        session.squeeze(room(window), true);
        const before = session.current;
        const next = entriesOf('n', { first: 0, turns: [turnOf(30_000), turnOf(30_000), turnOf(10)] }, false)
          .slice(3)
          .map(({ event }) => renumbered(event, before.turns));
        session.append(...next);
        session.squeeze(room(window), true);
        const { earlier, current } = session;
        expect(
          conversationSegments(earlier, current).filter(({ kind }) => kind === 'summary').length,
        ).toBeLessThan(2);
      }),
      cases,
    );
  });
});

function turnOf(result: number): PlannedTask['turns'][number] {
  return { text: 10, calls: [{ input: 10, result }], message: null };
}

/** @param inputTokens the provider's token count */
const spoken = (turn: number, text: string, inputTokens: number): TaskEvent[] =>
  spokenTurn(turn, text, 'stop', { inputTokens, outputTokens: 1 });

function renumbered(event: TaskEvent, by: number): TaskEvent {
  if ('turn' in event) return { ...event, turn: event.turn + by };
  return event;
}

describe('the step that shortens a conversation', () => {
  const many = { first: 10, turns: Array.from({ length: 20 }, () => turnOf(4_000)) };

  it('the step is a summary of the older turns, if there are older turns', () => {
    const session = new Session([many]);
    const [event, ...more] = session.squeeze(room(20_000), true);
    expect(event).toMatchObject({ type: 'context.summarised', upTo: { taskId: 'k0' } });
    expect(more).toEqual([]);
    const kinds = conversationSegments([], session.current).map(({ kind }) => kind);
    expect(kinds.slice(0, 3)).toEqual(['task', 'summary', 'turn']);
  });

  it.each([
    // The summary may have a sixth of the allowed tokens. Allowed are two thirds of the window, less 1,000.
    // The facts of the journal may have a twelfth.
    { window: 20_000, turns: 20, tokens: 2_055, facts: 1_027 },
    { window: 60_000, turns: 40, tokens: 4_000, facts: 3_250 },
    { window: 200_000, turns: 120, tokens: 4_000, facts: 8_000 },
  ])(
    'the summary has at most $tokens tokens in a window of $window, and the facts have $facts',
    ({ window, turns, ...most }) => {
      const session = new Session([{ first: 10, turns: Array.from({ length: turns }, () => turnOf(4_000)) }]);
      expect(nextContextReduction([], session.current, room(window))).toMatchObject({
        type: 'summarise',
        ...most,
      });
    },
  );

  it('the request for a summary contains the task’s first message', () => {
    const reduction = nextContextReduction([], new Session([many]).current, room(20_000));
    expect(reduction?.type === 'summarise' && reduction.covered[0]?.kind).toBe('task');
  });

  it('the step is a summary up to the second-last turn, if only the provider’s own count is too high', () => {
    const session = new Session([{ first: 10, turns: [turnOf(6_200), turnOf(6_200), turnOf(10)] }]);
    session.append(...spoken(4, '', 50_000));
    expect(nextContextReduction([], session.current, room(20_000))).toMatchObject({
      type: 'summarise',
      upTo: { taskId: 'k0', turn: 3 },
    });
  });

  it('a live task with several long messages fits: a summary replaces the last turn and the answered message before it', () => {
    const answered = { ...turnOf(10), message: 18_000 };
    const session = new Session([{ first: 18_000, turns: [answered, { ...turnOf(10), message: 12_000 }] }]);
    const at = room(20_000);
    expect(session.squeeze(at, true)).toMatchObject([
      { type: 'context.summarised', upTo: { taskId: 'k0', turn: 2 } },
    ]);
    expect(estimatePromptTokens([], session.current, at)).toBeLessThan((20_000 * 2) / 3);
    const kinds = conversationSegments([], session.current).map(({ kind }) => kind);
    expect(kinds.slice(0, 3)).toEqual(['task', 'summary', 'message']);
  });

  it('the step shortens one result of the last turn, if that result is too long', () => {
    const session = new Session([{ first: 10, turns: [turnOf(300_000)] }]);
    expect(session.squeeze(room(20_000), true)).toEqual([
      { type: 'context.clipped', upTo: { taskId: 'k0', turn: 1 }, chars: 32_000 },
    ]);
    expect(JSON.stringify(buildConversation([], session.current))).toContain('characters left out');
  });

  it('the steps are rare, even if the system prompt and the tools take most of the window', () => {
    const session = new Session([{ first: 10, turns: Array.from({ length: 40 }, () => turnOf(1_000)) }]);
    const at = { ...room(32_000), beside: 20_000 };
    expect(session.squeeze(at, true)).toHaveLength(1);
    const { length: kept } = conversationSegments([], session.current);
    expect(kept).toBeGreaterThan(5);
    expect(nextContextReduction([], session.current, at)).toBeUndefined();
  });

  it('the step lists the calls, if no summary and no shorter result is possible', () => {
    const session = new Session([{ first: 10, turns: Array.from({ length: 90 }, () => turnOf(400)) }]);
    const [event] = session.squeeze(room(10_000), false);
    expect(event).toMatchObject({ type: 'context.summarised', model: null, usage: NOTHING });
    const text = JSON.stringify(buildConversation([], session.current));
    expect(text).toContain('could not be summarised');
    expect(text).toContain('- read-file');
  });

  it('the step also covers the session’s earlier tasks', () => {
    const session = new Session([many, many, { first: 10, turns: [turnOf(10)] }]);
    session.squeeze(room(20_000), true);
    const text = JSON.stringify(buildConversation(session.earlier, session.current));
    expect(text).not.toContain('k0-first');
    expect(text).toContain(uniqueText('k2-first', 10));
  });

  it('if the provider refuses the estimated length, the step halves the conversation once', () => {
    const session = new Session([many]);
    const at = { ...room(1_000_000), window: undefined };
    expect(session.squeeze(at, true)).toEqual([]);
    const before = estimatePromptTokens([], session.current, at);
    session.append({ type: 'context.exceeded' });
    expect(session.squeeze(at, true)).toHaveLength(1);
    expect(estimatePromptTokens([], session.current, at)).toBeLessThan(before / 2 + 4_000);
    expect(session.current.context.refused).toBe('shortened');
  });
});

describe('the estimated size of a prompt', () => {
  it('the estimate is the provider’s last count plus the new parts', () => {
    const session = new Session([{ first: 10, turns: [turnOf(3_000)] }]);
    const at = room(100_000);
    const guessed = estimatePromptTokens([], session.current, at);
    session.append(...spoken(2, 'x'.repeat(300), 5_000));
    const counted = estimatePromptTokens([], session.current, at);
    expect(counted).toBeGreaterThan(5_000);
    expect(counted).toBeLessThan(5_000 + guessed);
    expect(estimatePromptTokens([], session.current, { ...at, model: 'another' })).toBeLessThan(
      guessed + 200,
    );
  });

  it('the estimate is never far below the program’s own estimate, for any count of the provider', () => {
    const session = new Session([{ first: 60_000, turns: [] }]);
    const guessed = estimatePromptTokens([], session.current, room(100_000));
    session.append(...spoken(1, '', 3));
    expect(estimatePromptTokens([], session.current, room(100_000))).toBe(guessed / 2);
  });

  it('the estimate includes the calls, the reasoning and the signatures that the model gets back', () => {
    const at = room(100_000);
    const state = { p: { signature: 'x'.repeat(300) } };
    const parts: TurnPart[] = [
      { type: 'reasoning', length: 300, state },
      { type: 'text', length: 600 },
      { type: 'call', input: { path: 'x'.repeat(900) } },
    ];
    const session = new Session([{ first: 10, turns: [] }]);
    const before = estimatePromptTokens([], session.current, at);
    session.append(
      { type: 'turn.started', turn: 1, model: 'm' },
      { type: 'reasoning.delta', turn: 1, text: 'r'.repeat(300) },
      { type: 'text.delta', turn: 1, text: 't'.repeat(600) },
      ...turnEventsWith([{ call: request('c', true), ask: false }]).filter(
        ({ type }) => type === 'tool.requested',
      ),
      {
        type: 'turn.finished',
        turn: 1,
        end: 'tool-calls',
        usage: NOTHING,
        replay: { basis: 'b', parts },
      },
    );
    // The estimate adds 10 tokens for a turn and for each of its parts and results. A call without a result gets a
    // sentence.
    const result = estimateTokens('This call was not run: the task ended first.');
    const call = estimateTokens('read-file') + estimateTokens(JSON.stringify({ path: 'x'.repeat(900) }));
    const expected =
      10 + (10 + 100 + estimateTokens(JSON.stringify(state))) + (10 + 200) + (10 + call) + (20 + result);
    expect(estimatePromptTokens([], session.current, at)).toBe(before + expected);
    // Another model gets only the text, and the calls with their checked input.
    const plain =
      10 + 200 + (10 + estimateTokens('read-file') + estimateTokens('{"path":"c"}')) + (20 + result);
    expect(estimatePromptTokens([], session.current, { ...at, model: 'another' })).toBe(before + plain);
  });
});

describe('a transcript for a summary', () => {
  it('the transcript never exceeds its limit, and keeps its beginning and its end', () => {
    fc.assert(
      fc.property(plannedSession, fc.integer({ min: 1_000, max: 50_000 }), (planned, chars) => {
        const { earlier, current } = new Session(planned);
        const text = summaryTranscript(conversationSegments(earlier, current), chars);
        expect(text.length).toBeLessThanOrEqual(chars + 50);
        expect(text).toMatch(/^PERSON: k0-first/);
      }),
      cases,
    );
  });
});
