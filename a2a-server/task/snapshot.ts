/** The state of a task, as the fold of its journal gives it. Values are never mutated. */
import type { Answer, Question } from '../../shared/protocol/question.ts';
import type {
  DecisionWord,
  PendingAction,
  PendingReason,
  TaskSettings,
  Todo,
} from '../../shared/protocol/tool-approval.ts';
import type { Context } from './context.ts';
import type { Grant } from './grants.ts';
import type { Spent } from './budget.ts';
import type {
  Artifact,
  Decider,
  RequestedCall,
  SavedFile,
  ToolOutcome,
  TurnEnd,
  UserMessage,
} from './events.ts';
import type { ExecutionOutput } from './outputs.ts';
import type { SpendingByModel } from './spending.ts';

export type Status =
  | { state: 'submitted' }
  /** `note`: what the agent said last of where it is. */
  | { state: 'working'; note?: string }
  | {
      state: 'input-required';
      pending: readonly PendingAction[];
      question?: string;
      /** Any reply lets the task spend as much again. */
      budget?: true;
      expiresAt?: string | null;
    }
  | { state: 'auth-required'; question: string; expiresAt?: string | null }
  | { state: 'completed'; message?: string }
  | { state: 'failed'; message: string }
  | { state: 'canceled'; reason: string; by: Decider }
  | { state: 'rejected'; message: string };

export type StateName = Status['state'];

export const TERMINAL_STATES: ReadonlySet<StateName> = new Set<StateName>([
  'completed',
  'failed',
  'canceled',
  'rejected',
]);

/** A task in one of these waits for a person; nothing of it runs. */
export const PARKED_STATES: ReadonlySet<StateName> = new Set<StateName>(['input-required', 'auth-required']);

/** Where a call stands. `settled` is final for the call. */
export type CallState =
  | { type: 'waiting'; reason: PendingReason }
  | { type: 'ready' }
  /** `startedAt` in milliseconds since the epoch. */
  | { type: 'running'; toolId: string; startedAt: number }
  | { type: 'settled'; result: CallResult };

/** What the model is told of a call in the end. */
export type CallResult =
  | { type: 'ran'; toolId: string; outcome: ToolOutcome }
  | { type: 'denied'; reason: string | null }
  /** Its outcome was lost in a crash and the person chose not to run it again. */
  | { type: 'skipped'; reason: string | null }
  | { type: 'refused'; message: string }
  /** It was a question, and this is what the person said. */
  | { type: 'answered'; answer: Answer; by: Decider }
  /** It was the question of a tool execution that ended before anybody answered. */
  | { type: 'withdrawn' };

/** A person's first valid decision on a call since it was last asked. */
export interface Decided {
  decision: DecisionWord;
  by: Decider;
  at: number;
  /** The hash of the input that was decided on. */
  inputHash: string;
}

export interface Call extends RequestedCall {
  turn: number;
  state: CallState;
  /** The decision that stands; null while none was needed or given. */
  decided: Decided | null;
  /** The input as the model wrote it, when a person has edited it. */
  originalInput: Record<string, unknown> | null;
  /** The last tool execution of the call. */
  toolId: string | null;
  /** The rule for which a person is asked, if there is one. */
  rule: string | null;
  /** The grant that let it run unasked, if one did. */
  grantId: string | null;
  /** For the question of a tool at work: the call that asks. */
  askedBy: string | null;
  /** The files it has changed, or was about to, in that order; `at` in milliseconds since the epoch. */
  saved?: readonly (SavedFile & { at: number })[];
}

/** One turn of the model: what it said, and the calls it asked for, in order. */
export interface Turn {
  turn: number;
  model: string;
  text: string;
  /** What it gave beside its words, in the order it began to. */
  artifacts: readonly Artifact[];
  callIds: readonly string[];
  /** How it ended; null while the model call is under way. */
  end: TurnEnd | null;
}

/** What the model has been shown, in the order it happened. */
export type Exchange = { type: 'message'; message: UserMessage } | { type: 'turn'; turn: Turn };

export interface Snapshot {
  taskId: string;
  sessionId: string;
  principal: string;
  settings: TaskSettings;
  /** What the client is answered with: the task, or the agent's last words alone. */
  answer: 'task' | 'message';
  createdAt: number;
  updatedAt: number;
  /** `seq` of the last event folded in. */
  seq: number;
  status: Status;
  exchanges: readonly Exchange[];
  /** Messages no turn has been given yet, oldest first. */
  queued: readonly UserMessage[];
  /** The turn whose model call is under way, with what it has said so far. */
  openTurn: Turn | null;
  calls: Readonly<Record<string, Call>>;
  /** Trust that was given, and is neither spent nor taken back; time may be over for some. */
  grants: readonly Grant[];
  context: Context;
  /** What tool executions have put out, the newest of it; see outputs.ts. */
  outputs: readonly ExecutionOutput[];
  /** What the agent means to do, as it last said. */
  todos: readonly Todo[];
  /** The model could not answer so many times in a row, and is not asked before `until`; null since it last did. */
  outage: { attempts: number; until: number } | null;
  /** Turns begun, abandoned ones included; the next is one more. */
  turns: number;
  /** What each model was paid, by its id. */
  spending: SpendingByModel;
  /** What counts against the task's budget. */
  spent: Spent;
  /** Under which id an agent of its own remembers the conversation; null for a model, which is shown it each time. */
  agentSession: string | null;
}

/** A task with what surrounds it: the session's tasks before it, oldest first, and the directory it works in. */
export interface TaskPlace {
  task: Snapshot;
  earlier: readonly Snapshot[];
  /** Absolute path. */
  workspace: string;
}

export function isTerminal(snapshot: Snapshot): boolean {
  return TERMINAL_STATES.has(snapshot.status.state);
}

/** What was said last of where a task at work is. */
export function noteOf({ status }: Snapshot): string | undefined {
  return status.state === 'working' ? status.note : undefined;
}

/** Parked or ended: nothing moves until the next command. */
export function isSettled(snapshot: Snapshot): boolean {
  return PARKED_STATES.has(snapshot.status.state) || isTerminal(snapshot);
}

/** The last finished turn, if nothing has been said to the model since. */
export function lastTurn(snapshot: Snapshot): Turn | undefined {
  const last = snapshot.exchanges.at(-1);
  return last?.type === 'turn' ? last.turn : undefined;
}

/** The message the next turn answers: the newest there is. */
export function newestMessage({ exchanges, queued }: Snapshot): UserMessage | undefined {
  const last = exchanges.findLast((exchange) => exchange.type === 'message');
  return queued.at(-1) ?? last?.message;
}

/** The call of this id, which anybody may have written: `constructor` names none. */
export function callOf({ calls }: Snapshot, callId: string): Call | undefined {
  return Object.hasOwn(calls, callId) ? calls[callId] : undefined;
}

/** The calls of a turn, in the order the model asked for them. */
export function callsOf(snapshot: Snapshot, turn: Turn | undefined): Call[] {
  return (turn?.callIds ?? []).flatMap((callId) => snapshot.calls[callId] ?? []);
}

/** The calls that wait for a decision, oldest first. */
export function waitingCalls(snapshot: Snapshot): Call[] {
  return Object.values(snapshot.calls).filter((call) => call.state.type === 'waiting');
}

/** What a call asks the person, if it is a question. */
export function questionOf({ preview }: Pick<RequestedCall, 'preview'>): Question | undefined {
  return preview.type === 'question' ? preview : undefined;
}

/** The questions of a running call that wait for an answer. */
export function openQuestions(snapshot: Snapshot, callId: string): Call[] {
  return waitingCalls(snapshot).filter(({ askedBy }) => askedBy === callId);
}

/** A call without side effects: it needs no decision, and may run beside others of its kind. */
export function isReadOnly(call: Pick<RequestedCall, 'sideEffect'>): boolean {
  return call.sideEffect === 'none';
}

/**
 * A call that an agent of its own asks leave for and carries out itself: its input is that agent's and cannot be changed
 * here, and so is the order in which it does what it may.
 */
export function isAgentsOwn(call: Pick<RequestedCall, 'source'>): boolean {
  return call.source.type === 'acp-agent';
}

/**
 * A call that may be run again without asking when its outcome is lost (E2). Not the same as read-only: reading a URL
 * changes nothing, and yet a person decides on it first, because the URL itself may carry something out.
 */
export function isRepeatable(call: Pick<RequestedCall, 'sideEffect' | 'repeatable'>): boolean {
  return isReadOnly(call) || call.repeatable === true;
}
