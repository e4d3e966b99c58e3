/**
 * The view of a task: what the bridge knows about the task from its observations. Pure. The size of a view is limited,
 * so an agent that sends much cannot exhaust the memory.
 */
import type { Task } from '@a2a-js/sdk';
import { TERMINAL_TASK_STATES } from '../../../shared/protocol/task-states.ts';
import type {
  ToolCallEvent,
  DecisionWord,
  GrantView,
  RecordedDecision,
  TaskOverview,
  ToolServerView,
} from '../../../shared/protocol/tool-approval.ts';
import type {
  Observation,
  ObservedEvent,
  ObservedArtifact,
  ObservedStatus,
  TaskStateName,
} from '../../dialects/observation.ts';
import type { TaskAndSessionId } from '../../dialects/turn-observation.ts';
import { taskAsStreamResponse } from '../../agents/task-as-stream-response.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { AgentProposal } from '../../dialects/unbound-proposal.ts';
import { newestOutputs, mergeAgentOutput } from './task-outputs.ts';
import { foldTurnObservation } from './fold-turn-observation.ts';

export type CallViewState =
  | 'waiting'
  | 'ready'
  | 'running'
  | 'ok'
  | 'error'
  | 'stopped'
  | 'denied'
  | 'skipped'
  | 'answered'
  | 'withdrawn'
  | 'unknown';

/** A tool call as clients see it. */
export interface CallView {
  callId: string;
  tool: string;
  title: string;
  state: CallViewState;
  /** The id of the last tool execution, with which a client can abort it. */
  toolId: string | null;
  summary: string | null;
  /**
   * The start time of the last tool execution in RFC 3339. Null if the agent does not report it and the bridge did not
   * see it.
   */
  startedAt: string | null;
  /** The decision that the agent has accepted. Null if there is none, or if the agent does not report it. */
  decided: Pick<RecordedDecision, 'decision' | 'by' | 'channel'> | null;
}

export interface TokenCost {
  inputTokens: number;
  outputTokens: number;
  /** The input tokens that the provider read from its cache. Absent if zero. */
  cachedInputTokens?: number;
  /** The input tokens that the provider wrote to its cache. Absent if zero. */
  cacheWriteTokens?: number;
  /** The price in US dollars. Null if the agent does not know it. */
  usd: number | null;
}

export interface Cost extends TokenCost {
  turns: number;
  /** The cost of all tasks of the session. Absent if this is the only task, or if the agent does not report it. */
  session?: TokenCost;
}

export interface TaskView extends TaskAndSessionId, ObservedStatus {
  calls: readonly CallView[];
  /** The agent's MCP servers, as the agent last reported them. Absent if it reports none. */
  servers?: readonly ToolServerView[];
  outputs: readonly ObservedArtifact[];
  /**
   * The agent's last message that is not an artifact. It may be the answer: an agent may send it in a status, and then
   * end the task without it.
   */
  reply: string;
  /** The last cost that the agent has reported. Null after an event that makes it outdated. */
  cost: Cost | null;
  /** The grants of trust, as the agent last reported them. Absent if it does not report them. */
  grants?: readonly GrantView[];
  /**
   * For each pending action, the change that the agent proposes (see `unbound-proposal.ts`), by call id. Absent if the
   * agent itself checks that a decision fits the action.
   */
  proposals?: ReadonlyMap<string, AgentProposal>;
  /** The `seq` of the last event in this view. Null if the agent sends no `seq`. */
  seq: number | null;
}

const MAX_CALLS = 200;

const ENDED: ReadonlySet<TaskStateName> = new Set<TaskStateName>(TERMINAL_TASK_STATES);

export function hasEnded({ state }: Pick<TaskView, 'state'>): boolean {
  return ENDED.has(state);
}

/**
 * Returns true if the task waits for a person, or has ended. The state `input-required` alone is not enough, because an
 * agent may still report it after the last decision.
 */
export function hasSettled(view: TaskView, answered: ReadonlySet<string> = new Set()): boolean {
  if (hasEnded(view)) return true;
  const { state, question, pending } = view;
  const asks = question !== null && !answered.has(question.id);
  if (state === 'auth-required') return question === null || asks;
  return state === 'input-required' && (pending.length > 0 || asks);
}

/** Returns true if actions or a question wait for a person. */
export function asksPerson(view: Pick<TaskView, 'pending' | 'question'> | undefined): boolean {
  return view !== undefined && (view.pending.length > 0 || view.question !== null);
}

/** Returns true if the task has ended, or needs input or a sign-in, even if the agent does not say what it needs. */
export function isEndedOrInterrupted(view: TaskView): boolean {
  return hasEnded(view) || view.state === 'auth-required' || view.state === 'input-required';
}

/** Returns the view of a whole task, without earlier events. Returns undefined if the agent has left out its id. */
export function viewOfWholeTask(task: Task, dialect: Pick<Dialect, 'read'>): TaskView | undefined {
  return foldObservedEvent(undefined, dialect.read(taskAsStreamResponse(task)));
}

/**
 * Applies one event to the view. S1: no event counts twice, so an event whose `seq` is not newer is ignored. A whole
 * task with the same `seq` is applied, because it may be more complete. J2: a whole task equals the fold of the events
 * up to its `seq`.
 */
export function foldObservedEvent(view: TaskView | undefined, observed: ObservedEvent): TaskView | undefined {
  const { seq, observations } = observed;
  const isAboutCall = observations.some(({ type }) => type === 'activity');
  let next = view;
  for (const observation of observations) {
    // An event about a tool call has a status without the list of pending actions. So while actions wait, this status
    // is ignored. The next event lists the pending actions.
    if (isAboutCall && observation.type === 'status' && next !== undefined && next.pending.length > 0)
      continue;
    if (namesTask(observation) && !isKnown(view, seq, observation))
      next = applyObservation(next, observation);
  }
  return next === undefined || next === view || seq === null ? next : { ...next, seq };
}

/**
 * Returns false if the agent has left out the id of the task. The observation is then ignored. The A2A SDK does not
 * check this for agents of A2A 0.3.
 */
function namesTask(observation: Observation): boolean {
  return observation.type === 'activity' || typeof observation.taskId === 'string';
}

function isKnown(view: TaskView | undefined, seq: number | null, observation: Observation): boolean {
  if (view === undefined || view.seq === null || seq === null) return false;
  if (observation.type !== 'activity' && observation.taskId !== view.taskId) return false;
  return observation.type === 'snapshot' ? seq < view.seq : seq <= view.seq;
}

function applyObservation(view: TaskView | undefined, observation: Observation): TaskView | undefined {
  switch (observation.type) {
    case 'snapshot': {
      const { type: _, outputs, overview, ...snapshot } = observation;
      const before = view?.taskId === snapshot.taskId ? view : undefined;
      const servers = overview?.servers ?? before?.servers;
      return completeEndedView({
        ...snapshot,
        outputs: newestOutputs(outputs),
        calls: overview === null ? (before?.calls ?? []) : callsOf(overview.calls, before),
        cost: overview === null ? null : costIn(overview),
        ...(overview?.grants && { grants: overview.grants }),
        seq: before?.seq ?? null,
        ...(servers && { servers }),
      });
    }
    case 'status': {
      const { type: _, at: _at, taskId: _taskId, sessionId: _sessionId, ...status } = observation;
      return completeEndedView({ ...viewOfTask(view, observation), ...status, cost: null });
    }
    case 'output': {
      const base = viewOfTask(view, observation);
      return { ...base, outputs: mergeAgentOutput(base.outputs, observation.output, observation.append) };
    }
    case 'reply': {
      // An agent may leave out the id of the session in a message. The message then belongs to this session.
      const { taskId, sessionId, text } = observation;
      const base = viewOfTask(undefined, { taskId, sessionId: sessionId || (view?.sessionId ?? '') });
      return { ...base, state: 'completed', reply: text };
    }
    case 'reasoning':
    case 'cost':
      return view;
    case 'moving':
    case 'said':
    case 'account':
    case 'asked':
    case 'outdated':
    case 'decided':
    case 'tool-output':
    case 'troubled':
    case 'turn-ended':
      return completeEndedView(foldTurnObservation(viewOfTask(view, observation), observation));
    case 'activity':
      return view === undefined
        ? undefined
        : withActivity(view, observation.activity, observation.at ?? null);
  }
}

function costIn({ turns, usage, sessionUsage }: TaskOverview): Cost {
  const task = tokenCost(usage);
  const session = sessionUsage && tokenCost(sessionUsage);
  const differs =
    session && (session.inputTokens !== task.inputTokens || session.outputTokens !== task.outputTokens);
  return { turns, ...task, ...(differs && { session }) };
}

function tokenCost({
  inputTokens,
  outputTokens,
  cachedInputTokens = 0,
  cacheWriteTokens = 0,
  usd = null,
}: TaskOverview['usage']): TokenCost {
  return {
    inputTokens,
    outputTokens,
    ...(cachedInputTokens > 0 && { cachedInputTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    usd,
  };
}

/** Returns the cost of the session in US dollars. Returns null if unknown. */
export function sessionCostUsd(cost: Cost | null | undefined): number | null {
  return cost?.session === undefined ? (cost?.usd ?? null) : cost.session.usd;
}

/** Completes the view of an ended task: nothing is pending, and calls that have not started become `skipped`. */
function completeEndedView(view: TaskView): TaskView {
  if (!hasEnded(view)) return view;
  const calls = view.calls.map((call) =>
    call.state === 'waiting' || call.state === 'ready' ? { ...call, state: 'skipped' as const } : call,
  );
  return { ...view, calls, pending: [], question: null };
}

/** Returns the view if it is about this task. Otherwise returns a new view. */
function viewOfTask(view: TaskView | undefined, { taskId, sessionId }: TaskAndSessionId): TaskView {
  if (view?.taskId === taskId) return view;
  return {
    taskId,
    sessionId,
    state: 'submitted',
    text: '',
    pending: [],
    question: null,
    calls: [],
    outputs: [],
    reply: '',
    cost: null,
    seq: null,
  };
}

function callsOf(calls: TaskOverview['calls'], before: TaskView | undefined): readonly CallView[] {
  const known = new Map((before?.calls ?? []).map((call) => [call.callId, call]));
  return calls.slice(-MAX_CALLS).map(({ callId, tool, title, state, toolId, startedAt, decided }) => {
    const call = known.get(callId);
    const seen = call !== undefined && call.toolId === toolId ? call.startedAt : null;
    return {
      callId,
      tool,
      title,
      state,
      toolId,
      summary: call?.summary ?? null,
      startedAt: startedAt ?? seen,
      decided: decided === undefined ? (call?.decided ?? null) : toDecided(decided),
    };
  });
}

function toDecided({ decision, by, channel }: NonNullable<CallView['decided']>): CallView['decided'] {
  return { decision, by, channel };
}

function withActivity(view: TaskView, activity: ToolCallEvent, at: string | null): TaskView {
  const { callId, tool, title } = activity;
  const before = view.calls.find((call) => call.callId === callId);
  // Some agents report the outcomes of earlier calls again with each later call. Such a repetition changes nothing.
  if (activity.type === 'tool.finished' && before?.state === activity.outcome) return view;
  const call: CallView = {
    toolId: null,
    summary: null,
    startedAt: null,
    decided: null,
    ...before,
    callId,
    tool,
    title,
    ...callChangeOf(activity, before, at),
  };
  const calls =
    before === undefined
      ? [...view.calls, call].slice(-MAX_CALLS)
      : view.calls.map((each) => (each === before ? call : each));
  const waits = activity.type === 'tool.requested' ? activity.asks : activity.type === 'tool.output';
  const pending = waits ? view.pending : view.pending.filter((action) => action.callId !== callId);
  return { ...view, calls, pending, cost: null };
}

const CALL_STATE_AFTER_DECISION: Readonly<Record<DecisionWord, CallViewState>> = {
  approve: 'ready',
  edit: 'ready',
  deny: 'denied',
  answer: 'answered',
};

function callChangeOf(
  activity: ToolCallEvent,
  before: CallView | undefined,
  at: string | null,
): Pick<CallView, 'state'> & Partial<CallView> {
  switch (activity.type) {
    case 'tool.requested':
      return { state: activity.asks ? 'waiting' : 'ready' };
    case 'tool.decided':
      // The call ran before with an unknown outcome, and the person chose not to run it again.
      if (activity.decision === 'deny' && before?.state === 'unknown')
        return { state: 'skipped', decided: toDecided(activity) };
      return { state: CALL_STATE_AFTER_DECISION[activity.decision], decided: toDecided(activity) };
    case 'tool.started':
      return { state: 'running', toolId: activity.toolId, startedAt: at };
    case 'tool.output':
      return { state: before?.state ?? 'running', toolId: activity.toolId };
    case 'tool.finished':
      return {
        state: activity.outcome,
        toolId: activity.toolId ?? before?.toolId ?? null,
        summary: activity.summary,
      };
  }
}
