/** Defines the snapshot: the state of a task as the fold of its journal. All values are immutable. */
import { TASK_STATES, TERMINAL_TASK_STATES } from '../../shared/protocol/task-states.ts';
import type { TraceContext } from '../../shared/net/trace-context.ts';
import type { Answer, Question } from '../../shared/protocol/question.ts';
import type {
  DecisionWord,
  PendingAction,
  PendingReason,
  TaskSettings,
  Todo,
} from '../../shared/protocol/tool-approval.ts';
import type { ApproverDemand } from './approver.ts';
import type { ShortenedContext } from './shortened-context.ts';
import type { EventCount } from './generation.ts';
import type { Grant } from './grants.ts';
import type { BudgetUsage } from './budget.ts';
import type {
  Artifact,
  DayCost,
  Decider,
  RequestedCall,
  RecordedFileChange,
  ToolExecutionReference,
  ToolOutcome,
  TurnEnd,
  UserMessage,
} from './events.ts';
import type { ToolExecutionOutput } from './tool-outputs.ts';
import type { InstructionFile } from './instructions.ts';
import type { SpendingByModel } from './spending.ts';
import type { TurnReplayData } from './replay-provider-data.ts';

export type SnapshotStatus =
  | { state: 'submitted'; note?: string }
  | { state: 'working'; note?: string }
  | {
      state: 'input-required';
      /** The time since which the task waits for a person, in milliseconds since 1970. */
      since: number;
      pending: readonly PendingAction[];
      question?: string;
      /** The task's budget is spent. Any reply grants the same budget again. */
      budget?: true;
      /** The daily budget is spent. Any reply allows the same amount again on that day. */
      dayCost?: DayCost;
      expiresAt?: string | null;
    }
  | { state: 'auth-required'; since: number; question: string; expiresAt?: string | null }
  | { state: 'completed'; message?: string }
  /** `tooLong` means that the conversation did not fit into the model's context window. */
  | { state: 'failed'; message: string; tooLong?: true }
  | { state: 'canceled'; reason: string; by: Decider }
  | { state: 'rejected'; message: string };

export const STATE_NAMES = TASK_STATES satisfies readonly SnapshotStatus['state'][];
export type StateName = (typeof STATE_NAMES)[number];

export const TERMINAL_STATES: ReadonlySet<StateName> = new Set<StateName>(TERMINAL_TASK_STATES);

export const PARKED_STATES: ReadonlySet<StateName> = new Set<StateName>(['input-required', 'auth-required']);

/** The state of a tool call. `settled` is final. */
export type CallState =
  | { type: 'waiting'; reason: PendingReason }
  | { type: 'ready' }
  /** `startedAt` is in milliseconds since 1970. `abort` is the reason of an abort that another server has requested. */
  | { type: 'running'; toolId: string; startedAt: number; abort?: string }
  | { type: 'settled'; result: CallResult };

export type CallResult =
  | { type: 'ran'; toolId: string; outcome: ToolOutcome }
  | { type: 'denied'; reason: string | null }
  /** A crash lost the outcome. The person decided not to run the tool call again. */
  | { type: 'skipped'; reason: string | null }
  | { type: 'refused'; message: string }
  | { type: 'answered'; answer: Answer; by: Decider }
  /** The tool execution ended before its question was answered. */
  | { type: 'withdrawn' };

/** The first valid decision after the tool call last began to wait. */
export interface AcceptedDecision {
  decision: DecisionWord;
  by: Decider;
  at: number;
  /** The hash of the input that the person saw. */
  inputHash: string;
  /** The demand that the approver met. Absent if nothing was demanded. */
  approver?: ApproverDemand;
  /** True if the decision had the assertion of a passkey. */
  presence?: true;
}

export interface Call extends RequestedCall {
  turn: number;
  state: CallState;
  /** The person's decision. Null if the tool call still waits for a decision, or needs no decision. */
  decided: AcceptedDecision | null;
  /** The model's input before a person edited it. Null if no person edited it. */
  originalInput: Record<string, unknown> | null;
  toolId: string | null;
  /** The place that the last repeated question named (see `tool.outdated`). Absent before such a question. */
  place?: string;
  /** The name of the operator's rule that requires a decision. */
  rule: string | null;
  /** True if the rule demands presence: an approval then needs the assertion of a passkey. */
  presence?: true;
  /** What is demanded of the approver of this tool call. */
  approver?: ApproverDemand;
  grantId: string | null;
  /** If this call is the question of a running tool, the id of that tool's call. Otherwise null. */
  askedBy: string | null;
  /** The files that the tool call changed or was about to change, oldest first. `at` is in milliseconds since 1970. */
  saved?: readonly (RecordedFileChange & { at: number })[];
  todos?: readonly Todo[];
}

export type WaitingCall = Call & { state: Extract<CallState, { type: 'waiting' }> };

/** A tool call whose tool runs now. */
type RunningCall = Call & { state: Extract<CallState, { type: 'running' }> };

export interface Turn {
  turn: number;
  model: string;
  text: string;
  reasoning?: string;
  /** The model's own data of the turn. Later requests return it to the model. */
  replay?: TurnReplayData;
  artifacts: readonly Artifact[];
  callIds: readonly string[];
  /** The end of the turn. Null while the model call runs. */
  end: TurnEnd | null;
  /** A note for the model about its open to-dos. The next request contains it. */
  reminder?: string;
}

export type ConversationItem = { type: 'message'; message: UserMessage } | { type: 'turn'; turn: Turn };

export interface Snapshot {
  taskId: string;
  sessionId: string;
  principal: string;
  /** The other principals who sent the task a message. Absent if there are none. */
  otherSenders?: readonly string[];
  settings: TaskSettings;
  /**
   * The form of the response to a client that waits for it: the A2A task, or only the agent's last text as an A2A
   * message.
   */
  answer: 'task' | 'message';
  createdAt: number;
  updatedAt: number;
  /** The `seq` of the last folded event. */
  seq: number;
  /** The number of events up to `seq` that clients get. */
  counted: EventCount;
  status: SnapshotStatus;
  exchanges: readonly ConversationItem[];
  messageSeq: number;
  /** The trace of the newest message that has one. */
  trace?: TraceContext;
  /** The messages that no turn contains yet, oldest first. */
  queued: readonly UserMessage[];
  /** The turn whose model call runs, with its text so far. */
  openTurn: Turn | null;
  instructions: readonly InstructionFile[];
  calls: Readonly<Record<string, Call>>;
  /** Grants that are neither used up nor revoked. Some of them may have expired. */
  grants: readonly Grant[];
  context: ShortenedContext;
  outputs: readonly ToolExecutionOutput[];
  todos: readonly Todo[];
  /**
   * `attempts` is the number of model failures in a row. `until` is the time of the next attempt. Null after a success.
   */
  outage: { attempts: number; until: number } | null;
  /** The number of started turns, including abandoned turns. */
  turns: number;
  spending: SpendingByModel;
  /** The used part of the task's budget. */
  spent: BudgetUsage;
  /** The session id of an ACP agent. Null for a model. */
  agentSession: string | null;
}

/** The task that an agent works on. `earlier` has the session's earlier tasks, oldest first. */
export interface TaskWithEarlierTasks {
  task: Snapshot;
  earlier: readonly Snapshot[];
  /** The absolute path of the working directory. */
  workspace: string;
}

export function isTerminal(snapshot: Snapshot): boolean {
  return TERMINAL_STATES.has(snapshot.status.state);
}

export function progressNoteOf({ status }: Snapshot): string | undefined {
  return status.state === 'working' || status.state === 'submitted' ? status.note : undefined;
}

/** True if the task waits for a person or has ended. No step of an execution is left for such a task. */
export function isTaskSettled(snapshot: Snapshot): boolean {
  return PARKED_STATES.has(snapshot.status.state) || isTerminal(snapshot);
}

/** Returns the last finished turn. Returns undefined if a message followed it. */
export function trailingTurn(snapshot: Snapshot): Turn | undefined {
  const last = snapshot.exchanges.at(-1);
  return last?.type === 'turn' ? last.turn : undefined;
}

/** Returns the newest message, which the next turn answers. */
export function newestMessage({ exchanges, queued }: Snapshot): UserMessage | undefined {
  const last = exchanges.findLast((exchange) => exchange.type === 'message');
  return queued.at(-1) ?? last?.message;
}

/**
 * Returns the tool call with this id. A client may send any text as the id, even an inherited key such as
 * `constructor`, so only own keys count.
 */
export function findCall({ calls }: Snapshot, callId: string): Call | undefined {
  return Object.hasOwn(calls, callId) ? calls[callId] : undefined;
}

/** Returns the tool calls of a turn, in the model's order. */
export function callsOfTurn(snapshot: Snapshot, turn: Turn | undefined): Call[] {
  return (turn?.callIds ?? []).flatMap((callId) => snapshot.calls[callId] ?? []);
}

export function waitingCalls(snapshot: Snapshot): WaitingCall[] {
  return Object.values(snapshot.calls).filter((call): call is WaitingCall => call.state.type === 'waiting');
}

export function runningCalls({ calls }: Snapshot): RunningCall[] {
  return Object.values(calls).filter((call): call is RunningCall => call.state.type === 'running');
}

/** Names the tool execution of a running tool call. */
export function runningExecution({ callId, tool, title, state }: RunningCall): ToolExecutionReference {
  return { callId, tool, title, toolId: state.toolId };
}

export function questionOfCall({ preview }: Pick<RequestedCall, 'preview'>): Question | undefined {
  return preview.type === 'question' ? preview : undefined;
}

export function waitingQuestionCalls(snapshot: Snapshot, callId: string): Call[] {
  return waitingCalls(snapshot).filter(({ askedBy }) => askedBy === callId);
}

/**
 * True for a tool call without side effects. It needs no decision, unless a rule demands one. It may run in parallel
 * with other read-only calls.
 */
export function isReadOnlyCall(call: Pick<RequestedCall, 'sideEffect'>): boolean {
  return call.sideEffect === 'none';
}

/**
 * True if an ACP agent runs the tool call itself after permission. The server cannot change the input or the order of
 * such calls.
 */
export function isRunByAcpAgent(call: Pick<RequestedCall, 'source'>): boolean {
  return call.source.type === 'acp-agent';
}

/**
 * E2: true if the tool call may run again without a decision after its outcome is lost. Some repeatable calls still
 * need a first approval. For example, a GET request changes nothing, but its URL may leak data.
 */
export function isRepeatableCall(call: Pick<RequestedCall, 'sideEffect' | 'repeatable'>): boolean {
  return isReadOnlyCall(call) || call.repeatable === true;
}
