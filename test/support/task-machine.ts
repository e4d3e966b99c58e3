/**
 * Simulates a task's life on the pure core: random commands, model turns, tool outcomes and crashes, through the
 * product's own functions. The machine replaces the executor; the core decides everything.
 */
import fc from 'fast-check';
import type { DecisionWord } from '../../shared/protocol/tool-approval.ts';
import { acceptMessage } from '../../a2a-server/task/accept-message.ts';
import { cancelTask } from '../../a2a-server/task/cancel.ts';
import { decideCalls } from '../../a2a-server/task/decide.ts';
import { isRefusal, type CommandOutcome } from '../../a2a-server/task/command-outcome.ts';
import { decisionInText } from '../../a2a-server/task/text-decision.ts';
import type {
  JournalEntry,
  RequestedCall,
  TaskEvent,
  TurnEnd,
  PolicyVerdict,
} from '../../a2a-server/task/events.ts';
import { NO_BUDGET } from '../../a2a-server/task/budget.ts';
import { firstSnapshot, foldEntry } from '../../a2a-server/task/fold.ts';
import { eventAfterModelFailure } from '../../a2a-server/task/model-outage.ts';
import { nextStep, turnStartEvents } from '../../a2a-server/task/next-step.ts';
import {
  withTaskState,
  parkOrContinue,
  pendingActions,
  questionWithdrawn,
} from '../../a2a-server/task/pending.ts';
import { isTerminal, waitingQuestionCalls, type Snapshot } from '../../a2a-server/task/snapshot.ts';

/** The next event in the task's life. A number such as `pick` selects one of the options that exist at that time. */
export type Move =
  /** `cut`: the process or the model fails between the turn's first text and its end. */
  | {
      type: 'step';
      calls: { kind: 'read-only' | 'writing' | 'question'; asked: boolean }[];
      text: string;
      gives: 'nothing' | 'artifact' | 'more of it';
      end: TurnEnd;
      cut: 'not' | 'crash' | 'outage';
    }
  | { type: 'finish-tool'; pick: number; ok: boolean }
  /** A running tool asks the person a question. */
  | { type: 'ask'; pick: number }
  | { type: 'message'; text: string }
  | { type: 'decide'; pick: number; word: DecisionWord; more: number }
  | { type: 'decide-unknown' }
  | { type: 'cancel' }
  | { type: 'crash' };

/** Turn ends other than a normal stop. */
const wishes = fc.constantFrom<TurnEnd>(
  { type: 'input-required', question: 'Which?' },
  { type: 'input-required', question: null },
  { type: 'auth-required', question: 'Who?' },
  { type: 'completed', message: 'All done.' },
  { type: 'rejected', message: 'Not that.' },
  'length',
  'empty',
);

export const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        type: fc.constant('step' as const),
        calls: fc.array(
          fc.record({
            kind: fc.constantFrom('read-only' as const, 'writing' as const, 'question' as const),
            asked: fc.boolean(),
          }),
          { maxLength: 4 },
        ),
        text: fc.string({ maxLength: 5 }),
        gives: fc.constantFrom('nothing', 'artifact', 'more of it'),
        end: fc.oneof(
          { weight: 5, arbitrary: fc.constant<TurnEnd>('stop') },
          { weight: 3, arbitrary: wishes },
        ),
        cut: fc.constantFrom('not', 'crash', 'outage'),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({ type: fc.constant('finish-tool' as const), pick: fc.nat(9), ok: fc.boolean() }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ type: fc.constant('ask' as const), pick: fc.nat(9) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('message' as const),
        text: fc.constantFrom('go on', 'approve', 'deny', 'yes'),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constant('decide' as const),
        pick: fc.nat(9),
        word: fc.constantFrom<DecisionWord>('approve', 'deny', 'edit', 'answer'),
        more: fc.nat(2),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ type: 'decide-unknown' as const }) },
    { weight: 1, arbitrary: fc.constant({ type: 'cancel' as const }) },
    { weight: 2, arbitrary: fc.constant({ type: 'crash' as const }) },
  ),
  { maxLength: 80, size: 'max' },
);

export class TaskMachine {
  readonly entries: JournalEntry[] = [];
  snapshot: Snapshot;
  /** The outcome of each command, in order, with the snapshot before the command. */
  readonly rulings: { ruling: CommandOutcome; before: Snapshot }[] = [];
  /** The tool executions whose process has crashed. */
  readonly #dead = new Set<string>();
  #id = 0;

  constructor() {
    const event: TaskEvent = { type: 'task.created', sessionId: 's', principal: 'p', settings: {} };
    const entry = { seq: 1, at: 1, event };
    const start = firstSnapshot('t', entry);
    if (start === undefined) throw new Error('a task begins with task.created');
    this.snapshot = start;
    this.entries.push(entry);
    this.#append([{ type: 'message.received', message: message(this.#next(), 'start'), channel: 'a2a' }]);
  }

  apply(move: Move): void {
    switch (move.type) {
      case 'step':
        return this.#step(move);
      case 'finish-tool':
        return this.#finishTool(move.pick, move.ok);
      case 'ask':
        return this.#ask(move.pick);
      case 'message':
        return this.#command((s) => {
          const sent = message(this.#next(), move.text);
          const bare = decisionInText(s, sent, s.taskId);
          return bare
            ? decideCalls(s, [bare], { by, at: 1 })
            : acceptMessage(s, sent, { channel: 'a2a', wordsDecide: true, taskId: s.taskId });
        });
      case 'decide': {
        const calls = Object.values(this.snapshot.calls);
        if (calls.length === 0) return undefined;
        const picked = Array.from({ length: move.more + 1 }, (_, i) => calls[(move.pick + i) % calls.length]);
        return this.#command((s) =>
          decideCalls(
            s,
            [...new Set(picked)].flatMap((call) =>
              call === undefined
                ? []
                : [
                    {
                      callId: call.callId,
                      decision: move.word,
                      scope: 'once' as const,
                      reason: null,
                      shown: pendingActions(s).find(({ callId }) => callId === call.callId)?.shown ?? 'none',
                      edited: move.word === 'edit' ? { ...call, title: 'edited' } : null,
                      ...(move.word === 'answer' && { answer: 'red' }),
                    },
                  ],
            ),
            { by, at: 1 },
          ),
        );
      }
      case 'decide-unknown':
        return this.#command((s) =>
          decideCalls(
            s,
            [
              {
                callId: 'no-such-call',
                decision: 'approve',
                scope: 'once',
                reason: null,
                shown: null,
                edited: null,
              },
            ],
            { by, at: 1 },
          ),
        );
      case 'cancel':
        return this.#command((s) => cancelTask(s, 'enough', by));
      case 'crash':
        return this.#crash();
    }
  }

  #command(rule: (snapshot: Snapshot) => CommandOutcome): void {
    const before = this.snapshot;
    const ruling = rule(before);
    this.rulings.push({ ruling, before });
    if (!isRefusal(ruling)) this.#append(ruling);
  }

  /** Runs one step of the executor. Does nothing while tools run, because only `finish-tool` ends them. */
  #step(move: Extract<Move, { type: 'step' }>): void {
    if (this.#runningCalls().length > 0) return;
    // Uses an infinite time, so that the pause before a retry of the model is always over.
    const step = nextStep(this.snapshot, { budget: NO_BUDGET, now: Infinity });
    switch (step.type) {
      case 'settled':
      case 'wait':
        return;
      case 'append':
      case 'recover':
        return this.#append(step.events);
      case 'run':
        return this.#append(
          step.calls.map(({ callId, tool, title }) => ({
            type: 'tool.started',
            callId,
            tool,
            title,
            toolId: `x${this.#next()}`,
          })),
        );
      case 'ask-model': {
        const turn = this.snapshot.turns + 1;
        const requested = move.calls.map((call): TaskEvent => ({
          type: 'tool.requested',
          turn,
          ...(call.kind === 'question'
            ? { call: questionCall(`c${this.#next()}`), verdict: { type: 'question' as const } }
            : {
                call: request(`c${this.#next()}`, call.kind === 'read-only'),
                verdict: verdictOf(call),
              }),
        }));
        this.#append(turnStartEvents(this.snapshot, 'm'));
        this.#append([{ type: 'text.delta', turn, text: move.text }]);
        this.#append(given(turn, move.gives));
        if (move.cut === 'crash') return undefined;
        if (move.cut === 'outage') {
          const failure = { message: 'It was cut off.', passing: true, waitMs: 0 };
          return this.#append([
            { type: 'turn.abandoned', turn, reason: failure.message },
            eventAfterModelFailure(this.snapshot, failure, 1),
          ]);
        }
        const finished: TaskEvent[] = [
          ...requested,
          {
            type: 'turn.finished',
            turn,
            end: requested.length > 0 ? 'tool-calls' : move.end,
            usage: { inputTokens: 1, outputTokens: 1 },
          },
        ];
        const after = finished.reduce(
          (s, event) => foldEntry(s, { seq: s.seq + 1, at: 1, event }),
          this.snapshot,
        );
        const next = nextStep(after);
        return this.#append(next.type === 'append' ? [...finished, ...next.events] : finished);
      }
    }
  }

  #finishTool(pick: number, ok: boolean): void {
    const running = this.#runningCalls();
    const call = running[pick % Math.max(running.length, 1)];
    if (call?.state.type !== 'running') return;
    const { callId, tool, title } = call;
    this.#append(
      withTaskState(this.snapshot, ...waitingQuestionCalls(this.snapshot, callId).map(questionWithdrawn), {
        type: 'tool.finished',
        callId,
        tool,
        title,
        toolId: call.state.toolId,
        outcome: ok ? { type: 'ok', text: 'done', summary: 'done' } : { type: 'error', message: 'no' },
      }),
    );
  }

  #ask(pick: number): void {
    const running = this.#runningCalls();
    const call = running[pick % Math.max(running.length, 1)];
    if (call === undefined || isTerminal(this.snapshot)) return;
    const event: TaskEvent = {
      type: 'tool.asked',
      call: questionCall(`${call.callId}.q${this.#next()}`),
      askedBy: call.callId,
    };
    this.#append([
      event,
      parkOrContinue(foldEntry(this.snapshot, { seq: this.snapshot.seq + 1, at: 1, event })),
    ]);
  }

  /** The process crashes, and the next one recovers from the journal. */
  #crash(): void {
    for (const { toolId } of this.#runningCalls()) if (toolId !== null) this.#dead.add(toolId);
    const step = nextStep(this.snapshot);
    if (step.type === 'recover') this.#append(step.events);
  }

  #runningCalls() {
    return Object.values(this.snapshot.calls).filter(
      ({ state }) => state.type === 'running' && !this.#dead.has(state.toolId),
    );
  }

  #append(events: readonly TaskEvent[]): void {
    for (const event of events) {
      const entry = { seq: this.snapshot.seq + 1, at: 1, event };
      this.entries.push(entry);
      this.snapshot = foldEntry(this.snapshot, entry);
    }
  }

  #next(): number {
    return (this.#id += 1);
  }
}

const by = { principal: 'p', channel: 'tool' };

function given(turn: number, what: 'nothing' | 'artifact' | 'more of it'): TaskEvent[] {
  const artifact = {
    artifactId: 'a',
    name: '',
    description: '',
    parts: [{ type: 'text', text: 'x' }],
  } as const;
  const first: TaskEvent = { type: 'artifact.updated', turn, artifact, append: false, lastChunk: false };
  switch (what) {
    case 'nothing':
      return [];
    case 'artifact':
      return [first, { type: 'turn.noted', turn, text: 'here it is' }];
    case 'more of it':
      return [first, { type: 'artifact.updated', turn, artifact, append: true, lastChunk: true }];
  }
}

function message(id: number, text: string) {
  return { messageId: `m${id}`, parts: [{ type: 'text' as const, text }] };
}

export function request(callId: string, readOnly: boolean): RequestedCall {
  return {
    callId,
    modelCallId: callId,
    tool: readOnly ? 'read-file' : 'write-file',
    title: `Call ${callId}`,
    input: { path: callId },
    inputHash: `hash-${callId}`,
    sideEffect: readOnly ? 'none' : 'files',
    source: { type: 'built-in' },
    preview: { type: 'json', value: {} },
    basis: null,
  };
}

function verdictOf({ kind, asked }: { kind: string; asked: boolean }): PolicyVerdict {
  return asked && kind === 'writing' ? { type: 'ask' } : { type: 'allow', because: { type: 'auto-execute' } };
}

/** A call that asks the person for one of two colours, or for free text. */
export function questionCall(callId: string): RequestedCall {
  const choices = [{ label: 'red' }, { label: 'blue' }];
  return {
    ...request(callId, true),
    tool: 'ask-person',
    preview: { type: 'question', text: 'Which colour?', choices, freeText: true },
  };
}
