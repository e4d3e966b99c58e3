/**
 * What the bridge knows of a task: the fold of what was observed of it. Pure, total, and bounded: an agent that talks
 * without end fills no memory.
 */
import type {
  Activity,
  DecisionWord,
  GrantView,
  PendingAction,
  StandingDecision,
  TaskOverview,
  ToolServerView,
} from '../../shared/protocol/tool-approval.ts';
import type { Observation, Observed, Output, Question, TaskStateName } from '../dialects/observation.ts';
import type { Proposal } from '../dialects/proposal.ts';
import { bounded, withOutput } from './task-outputs.ts';
import { foldTurn } from './fold-turn.ts';

export type CallState =
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

/** A tool call as far as a client is told of it. */
export interface CallView {
  callId: string;
  tool: string;
  title: string;
  state: CallState;
  /** The last tool execution, which is what abort takes. */
  toolId: string | null;
  summary: string | null;
  /** When that execution started, RFC 3339; null where the agent does not say, or it was not watched. */
  startedAt: string | null;
  /** The decision that stands on it; null while there is none, or where the agent does not say. */
  decided: Pick<StandingDecision, 'decision' | 'by' | 'channel'> | null;
}

export interface Cost {
  turns: number;
  inputTokens: number;
  outputTokens: number;
  /** In US dollars; null where the agent does not know. */
  usd: number | null;
}

export interface TaskView {
  taskId: string;
  sessionId: string;
  state: TaskStateName;
  /** What the status says in words. */
  text: string;
  pending: readonly PendingAction[];
  question: Question | null;
  calls: readonly CallView[];
  /** The MCP servers whose tools the agent has, as it last said; absent where it has none, or says nothing of them. */
  servers?: readonly ToolServerView[];
  outputs: readonly Output[];
  /** The agent's last words outside of outputs and status. */
  reply: string;
  /** Counted by the agent; null once something has happened that it has not counted in. */
  cost: Cost | null;
  /** Trust that was given, as the agent last told it; absent where it does not tell. */
  grants?: readonly GrantView[];
  /** What the agent proposed with the pending actions, by call; absent where the agent binds decisions itself. */
  proposals?: ReadonlyMap<string, Proposal>;
  /** Place in the agent's journal of the last event folded in; null when the agent has no such thing. */
  seq: number | null;
}

const MAX_CALLS = 200;

const ENDED: ReadonlySet<TaskStateName> = new Set<TaskStateName>([
  'completed',
  'failed',
  'canceled',
  'rejected',
]);

export function hasEnded(view: TaskView): boolean {
  return ENDED.has(view.state);
}

/**
 * Whether the task has stopped moving until somebody does something. `input-required` alone does not say it: between a
 * decision and the next step of the agent the state may still read so, with nothing left to decide.
 */
export function hasSettled(view: TaskView, answered: ReadonlySet<string> = new Set()): boolean {
  if (hasEnded(view)) return true;
  const { state, question, pending } = view;
  const asks = question !== null && !answered.has(question.id);
  if (state === 'auth-required') return question === null || asks;
  return state === 'input-required' && (pending.length > 0 || asks);
}

/** Whether the agent says the task has stopped, though it may not say what it waits for. */
export function isInterrupted(view: TaskView): boolean {
  return hasEnded(view) || view.state === 'auth-required' || view.state === 'input-required';
}

/**
 * Folds one event in. Events at or before the view's place in the journal change nothing (S1: no repeat); a snapshot of
 * that very place says the same and more (J2).
 */
export function fold(view: TaskView | undefined, observed: Observed): TaskView | undefined {
  const { seq, observations } = observed;
  let next = view;
  for (const observation of observations) {
    if (!isKnown(view, seq, observation)) next = apply(next, observation);
  }
  return next === undefined || next === view || seq === null ? next : { ...next, seq };
}

function isKnown(view: TaskView | undefined, seq: number | null, observation: Observation): boolean {
  if (view === undefined || view.seq === null || seq === null) return false;
  if (observation.type !== 'activity' && observation.taskId !== view.taskId) return false;
  return observation.type === 'snapshot' ? seq < view.seq : seq <= view.seq;
}

function apply(view: TaskView | undefined, observation: Observation): TaskView | undefined {
  switch (observation.type) {
    case 'snapshot': {
      const { taskId, sessionId, state, text, pending, question, outputs, reply, overview } = observation;
      const before = view?.taskId === taskId ? view : undefined;
      const servers = overview?.servers ?? before?.servers;
      return closed({
        taskId,
        sessionId,
        state,
        text,
        pending,
        question,
        outputs: bounded(outputs),
        reply,
        calls: overview === null ? (before?.calls ?? []) : callsOf(overview.calls, before),
        cost: overview === null ? null : costIn(overview),
        ...(overview?.grants && { grants: overview.grants }),
        seq: before?.seq ?? null,
        ...(servers && { servers }),
      });
    }
    case 'status': {
      const { taskId, sessionId, state, text, pending, question } = observation;
      return closed({ ...of(view, taskId, sessionId), state, text, pending, question, cost: null });
    }
    case 'output': {
      const base = of(view, observation.taskId, observation.sessionId);
      return { ...base, outputs: withOutput(base.outputs, observation.output, observation.append) };
    }
    case 'reply': {
      const base = of(undefined, observation.taskId, observation.sessionId);
      return { ...base, state: 'completed', reply: observation.text };
    }
    case 'moving':
    case 'said':
    case 'account':
    case 'asked':
    case 'outdated':
    case 'decided':
    case 'tool-output':
    case 'troubled':
    case 'turn-ended':
      return closed(foldTurn(of(view, observation.taskId, observation.sessionId), observation));
    case 'activity':
      return view === undefined
        ? undefined
        : withActivity(view, observation.activity, observation.at ?? null);
  }
}

function costIn({ turns, usage }: TaskOverview): Cost {
  const { inputTokens, outputTokens, usd = null } = usage;
  return { turns, inputTokens, outputTokens, usd };
}

/** Of a task that has ended nothing waits any more: what had not begun never will. */
function closed(view: TaskView): TaskView {
  if (!hasEnded(view)) return view;
  const calls = view.calls.map((call) =>
    call.state === 'waiting' || call.state === 'ready' ? { ...call, state: 'skipped' as const } : call,
  );
  return { ...view, calls, pending: [], question: null };
}

/** The view to go on from: the same task's, or a new task's. */
function of(view: TaskView | undefined, taskId: string, sessionId: string): TaskView {
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
      decided: decided === undefined ? (call?.decided ?? null) : standing(decided),
    };
  });
}

function standing({ decision, by, channel }: NonNullable<CallView['decided']>): CallView['decided'] {
  return { decision, by, channel };
}

function withActivity(view: TaskView, activity: Activity, at: string | null): TaskView {
  const { callId, tool, title } = activity;
  const before = view.calls.find((call) => call.callId === callId);
  // Some agents repeat how earlier calls ended with each later one.
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
    ...changeBy(activity, before, at),
  };
  const calls =
    before === undefined
      ? [...view.calls, call].slice(-MAX_CALLS)
      : view.calls.map((each) => (each === before ? call : each));
  const waits = activity.type === 'tool.requested' ? activity.asks : activity.type === 'tool.output';
  const pending = waits ? view.pending : view.pending.filter((action) => action.callId !== callId);
  return { ...view, calls, pending, cost: null };
}

const STATE_AFTER: Readonly<Record<DecisionWord, CallState>> = {
  approve: 'ready',
  edit: 'ready',
  deny: 'denied',
  answer: 'answered',
};

function changeBy(
  activity: Activity,
  before: CallView | undefined,
  at: string | null,
): Pick<CallView, 'state'> & Partial<CallView> {
  switch (activity.type) {
    case 'tool.requested':
      return { state: activity.asks ? 'waiting' : 'ready' };
    case 'tool.decided':
      return { state: STATE_AFTER[activity.decision], decided: standing(activity) };
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
