/** The state of a task, as the fold of its journal gives it. Values are never mutated. */
import type {
  PendingAction,
  PendingReason,
  SideEffect,
  TaskSettings,
} from '../../shared/protocol/tool-approval.ts';
import type { Decider, RequestedCall, ToolOutcome, Usage, UserMessage } from './events.ts';

export type Status =
  | { state: 'submitted' }
  | { state: 'working' }
  | { state: 'input-required'; pending: readonly PendingAction[] }
  | { state: 'completed' }
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

/** Where a call stands. `settled` is final for the call. */
export type CallState =
  | { type: 'waiting'; reason: PendingReason }
  | { type: 'ready' }
  | { type: 'running'; toolId: string }
  | { type: 'settled'; result: CallResult };

/** What the model is told of a call in the end. */
export type CallResult =
  | { type: 'ran'; toolId: string; outcome: ToolOutcome }
  | { type: 'denied'; reason: string | null }
  /** Its outcome was lost in a crash and the person chose not to run it again. */
  | { type: 'skipped'; reason: string | null }
  | { type: 'refused'; message: string };

/** A person's first valid decision on a call since it was last asked. */
export interface Decided {
  decision: 'approve' | 'deny' | 'edit';
  by: Decider;
  at: number;
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
}

/** A trust given with a decision: later calls within its reach run without a question. */
export interface Grant {
  scope: 'tool' | 'server' | 'always';
  callId: string;
  tool: string;
  source: RequestedCall['source'];
}

/** One turn of the model: what it said, and the calls it asked for, in order. */
export interface Turn {
  turn: number;
  model: string;
  text: string;
  callIds: readonly string[];
  state: 'open' | 'finished';
}

/** What the model is to be shown, in the order it happened. */
export type Exchange = { type: 'message'; message: UserMessage } | { type: 'turn'; turn: Turn };

export interface Snapshot {
  taskId: string;
  sessionId: string;
  principal: string;
  settings: TaskSettings;
  createdAt: number;
  updatedAt: number;
  /** `seq` of the last event folded in. */
  seq: number;
  status: Status;
  exchanges: readonly Exchange[];
  calls: Readonly<Record<string, Call>>;
  grants: readonly Grant[];
  /** Turns begun, abandoned ones included; the next is one more. */
  turns: number;
  usage: Usage;
}

export function isTerminal(snapshot: Snapshot): boolean {
  return TERMINAL_STATES.has(snapshot.status.state);
}

/** Parked or ended: nothing moves until the next command. */
export function isSettled(snapshot: Snapshot): boolean {
  return snapshot.status.state === 'input-required' || isTerminal(snapshot);
}

/** The last turn, if the task has had one. */
export function lastTurn(snapshot: Snapshot): Turn | undefined {
  const exchange = snapshot.exchanges.findLast((e) => e.type === 'turn');
  return exchange?.type === 'turn' ? exchange.turn : undefined;
}

export function isReadOnly(effect: SideEffect): boolean {
  return effect === 'none';
}
