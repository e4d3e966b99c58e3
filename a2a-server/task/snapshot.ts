/** Defines the snapshot, which is the state of a task: the fold of its journal. Values are immutable. */
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
import type { BudgetUsage } from './budget.ts';
import type {
  Artifact,
  DayCost,
  Decider,
  RequestedCall,
  SavedFile,
  ToolOutcome,
  TurnEnd,
  UserMessage,
} from './events.ts';
import type { ExecutionOutput } from './tool-outputs.ts';
import type { InstructionFile } from './instructions.ts';
import type { SpendingByModel } from './spending.ts';
import type { TurnReplay } from './turn-replay.ts';

export type Status =
  | { state: 'submitted' }
  /** `note`: the agent's last progress message. */
  | { state: 'working'; note?: string }
  | {
      state: 'input-required';
      pending: readonly PendingAction[];
      question?: string;
      /** The budget is spent. Any reply grants the same budget again. */
      budget?: true;
      /** The budget per day is spent. Any reply allows the same amount again on that day. */
      dayCost?: DayCost;
      expiresAt?: string | null;
    }
  | { state: 'auth-required'; question: string; expiresAt?: string | null }
  | { state: 'completed'; message?: string }
  /** `tooLong`: the conversation did not fit into the model's context window. */
  | { state: 'failed'; message: string; tooLong?: true }
  | { state: 'canceled'; reason: string; by: Decider }
  | { state: 'rejected'; message: string };

export type StateName = Status['state'];

export const TERMINAL_STATES: ReadonlySet<StateName> = new Set<StateName>([
  'completed',
  'failed',
  'canceled',
  'rejected',
]);

/** In these states a task waits for a person. */
export const PARKED_STATES: ReadonlySet<StateName> = new Set<StateName>(['input-required', 'auth-required']);

/** The state of a call. `settled` is final. */
export type CallState =
  | { type: 'waiting'; reason: PendingReason }
  | { type: 'ready' }
  /** `startedAt` is in milliseconds since the epoch. */
  | { type: 'running'; toolId: string; startedAt: number }
  | { type: 'settled'; result: CallResult };

/** The final result of a call. */
export type CallResult =
  | { type: 'ran'; toolId: string; outcome: ToolOutcome }
  | { type: 'denied'; reason: string | null }
  /** A crash lost the outcome, and the person chose not to run the call again. */
  | { type: 'skipped'; reason: string | null }
  | { type: 'refused'; message: string }
  /** The person's answer to a question. */
  | { type: 'answered'; answer: Answer; by: Decider }
  /** The tool execution ended before the answer to its question. */
  | { type: 'withdrawn' };

/** A person's first valid decision since the last question about the call. */
export interface AcceptedDecision {
  decision: DecisionWord;
  by: Decider;
  at: number;
  /** The hash of the input that the person decided on. */
  inputHash: string;
}

export interface Call extends RequestedCall {
  turn: number;
  state: CallState;
  /** The current decision; null if there is no decision. */
  decided: AcceptedDecision | null;
  /** The model's input, if a person edited it. */
  originalInput: Record<string, unknown> | null;
  /** The last tool execution of this call. */
  toolId: string | null;
  /** The rule that requires the question, if any. */
  rule: string | null;
  /** The grant that allowed the call, if any. */
  grantId: string | null;
  /** For a question of a running tool: the call that asks. */
  askedBy: string | null;
  /** The files that the call changed or was about to change, in order. `at` is in milliseconds since the epoch. */
  saved?: readonly (SavedFile & { at: number })[];
  /** The to-do list that the call wrote. */
  todos?: readonly Todo[];
}

/** A call that waits for a decision. */
export type WaitingCall = Call & { state: Extract<CallState, { type: 'waiting' }> };

/** One turn of the model: its text and its calls, in order. */
export interface Turn {
  turn: number;
  model: string;
  text: string;
  /** The model's reasoning, which is not part of the answer. */
  reasoning?: string;
  /** The data that the model needs in later turns. */
  replay?: TurnReplay;
  /** The artifacts, in the order of their first event. */
  artifacts: readonly Artifact[];
  callIds: readonly string[];
  /** The end of the turn; null while the model call runs. */
  end: TurnEnd | null;
}

/** The conversation in order. */
export type ConversationItem = { type: 'message'; message: UserMessage } | { type: 'turn'; turn: Turn };

export interface Snapshot {
  taskId: string;
  sessionId: string;
  principal: string;
  settings: TaskSettings;
  /** The kind of answer for the client: the task, or only the agent's last text. */
  answer: 'task' | 'message';
  createdAt: number;
  updatedAt: number;
  /** The `seq` of the last folded event. */
  seq: number;
  status: Status;
  exchanges: readonly ConversationItem[];
  /** The `seq` of the newest message. */
  messageSeq: number;
  /** Messages that are not in any turn yet, oldest first. */
  queued: readonly UserMessage[];
  /** The turn whose model call runs, with its text so far. */
  openTurn: Turn | null;
  /** The workspace's instruction files, as the task read them. */
  instructions: readonly InstructionFile[];
  calls: Readonly<Record<string, Call>>;
  /** Grants that are neither spent nor revoked. Some may have expired. */
  grants: readonly Grant[];
  context: Context;
  /** The newest output of tool executions; see tool-outputs.ts. */
  outputs: readonly ExecutionOutput[];
  /** The agent's latest to-do list. */
  todos: readonly Todo[];
  /** The number of model failures in a row, and the time of the next attempt; null after a success. */
  outage: { attempts: number; until: number } | null;
  /** The number of started turns, including abandoned turns. */
  turns: number;
  /** The cost of each model, by its id. */
  spending: SpendingByModel;
  /** The use of the task's budget. */
  spent: BudgetUsage;
  /** The session id of an ACP agent, which remembers the conversation itself. Null for a model. */
  agentSession: string | null;
}

/** A task, the session's earlier tasks (oldest first), and the working directory. */
export interface TaskPlace {
  task: Snapshot;
  earlier: readonly Snapshot[];
  /** Absolute path. */
  workspace: string;
}

export function isTerminal(snapshot: Snapshot): boolean {
  return TERMINAL_STATES.has(snapshot.status.state);
}

/** Returns the last progress message of a working task. */
export function progressNoteOf({ status }: Snapshot): string | undefined {
  return status.state === 'working' ? status.note : undefined;
}

/** True if the task is parked or ended. Then only a new command changes it. */
export function isSettled(snapshot: Snapshot): boolean {
  return PARKED_STATES.has(snapshot.status.state) || isTerminal(snapshot);
}

/** Returns the last finished turn, if no message followed it. */
export function lastTurn(snapshot: Snapshot): Turn | undefined {
  const last = snapshot.exchanges.at(-1);
  return last?.type === 'turn' ? last.turn : undefined;
}

/** Returns the newest message. The next turn answers it. */
export function newestMessage({ exchanges, queued }: Snapshot): UserMessage | undefined {
  const last = exchanges.findLast((exchange) => exchange.type === 'message');
  return queued.at(-1) ?? last?.message;
}

/**
 * Returns the call with this id. Any client may send the id, so an inherited key such as `constructor` must not match.
 */
export function callOf({ calls }: Snapshot, callId: string): Call | undefined {
  return Object.hasOwn(calls, callId) ? calls[callId] : undefined;
}

/** Returns the calls of a turn, in the model's order. */
export function callsOf(snapshot: Snapshot, turn: Turn | undefined): Call[] {
  return (turn?.callIds ?? []).flatMap((callId) => snapshot.calls[callId] ?? []);
}

/** Returns the calls that wait for a decision, oldest first. */
export function waitingCalls(snapshot: Snapshot): WaitingCall[] {
  return Object.values(snapshot.calls).filter((call): call is WaitingCall => call.state.type === 'waiting');
}

/** Returns the question, if the call is a question. */
export function questionOf({ preview }: Pick<RequestedCall, 'preview'>): Question | undefined {
  return preview.type === 'question' ? preview : undefined;
}

/** Returns the open questions of a running call. */
export function openQuestions(snapshot: Snapshot, callId: string): Call[] {
  return waitingCalls(snapshot).filter(({ askedBy }) => askedBy === callId);
}

/** True for a call without side effects. It needs no decision and may run in parallel with other read-only calls. */
export function isReadOnly(call: Pick<RequestedCall, 'sideEffect'>): boolean {
  return call.sideEffect === 'none';
}

/**
 * True for a call that an ACP agent itself runs after permission. The server cannot change its input or the order of
 * the agent's calls.
 */
export function isRunByAcpAgent(call: Pick<RequestedCall, 'source'>): boolean {
  return call.source.type === 'acp-agent';
}

/**
 * True if the call may run again without asking after its outcome is lost (E2). Not each repeatable call is read-only:
 * a GET request changes nothing, but a person must approve it, because the URL may leak data.
 */
export function isRepeatable(call: Pick<RequestedCall, 'sideEffect' | 'repeatable'>): boolean {
  return isReadOnly(call) || call.repeatable === true;
}
