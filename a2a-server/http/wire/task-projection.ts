import type { Artifact, Message, Task, TaskStatus } from '@a2a-js/sdk';
import { answerText } from '../../../shared/protocol/preview-text.ts';
import { TASK_STATE_CODES } from '../../../shared/protocol/task-state-codes.ts';
import type {
  GrantView,
  RecordedDecision,
  TaskOverview,
  ToolServerView,
} from '../../../shared/protocol/tool-approval.ts';
import { decidedByText } from '../../../shared/text/decided-by-text.ts';
import type { Grant } from '../../task/grants.ts';
import { pendingActions } from '../../task/pending.ts';
import { generationOf } from '../../task/generation.ts';
import { callsOfTurn, isTerminal } from '../../task/snapshot.ts';
import { costView } from '../../task/costs/cost-report.ts';
import type { CostSum } from '../../task/costs/cost-sum.ts';
import { filesOfTask } from '../../task/task-files.ts';
import { NO_SPENDING, addSpending } from '../../task/spending.ts';
import type { Call, AcceptedDecision, Snapshot, Turn } from '../../task/snapshot.ts';
import {
  canceledText,
  outcomeSummary,
  pendingActionsMessage,
  questionText,
  RESPONSE_ARTIFACT_NAME,
  statusMessage,
} from './event-projection.ts';
import { withGenerationMetadata } from './generation-field.ts';
import {
  agentArtifact,
  toA2aMessage,
  wireMetadata,
  toolOutputArtifact,
  textPart,
  todosArtifact,
  turnArtifact,
  userMessage,
} from './build-messages-and-artifacts.ts';
import type { WireOptions } from './build-messages-and-artifacts.ts';

interface TaskDetail {
  /** The number of newest messages to include. Undefined means all, 0 means none (A2A 1.0 §3.2.4). */
  historyLength?: number | undefined;
  /** True to include the artifacts. False only in lists (A2A 1.0 §3.1.4). */
  artifacts?: boolean;
  servers?: readonly ToolServerView[];
  sessionCost?: CostSum;
}

export function toA2aTask(snapshot: Snapshot, options: WireOptions, detail: TaskDetail = {}): Task {
  const { historyLength, artifacts = true, servers = [], sessionCost } = detail;
  const task: Task = {
    id: snapshot.taskId,
    contextId: snapshot.sessionId,
    status: statusOf(snapshot, options),
    artifacts: artifacts ? [...artifactsOf(snapshot, options), ...besideAnswer(snapshot, options)] : [],
    history: latest(historyOf(snapshot, options), historyLength),
    metadata: wireMetadata(options, snapshot.seq, {
      ...overviewOf(snapshot),
      ...(servers.length > 0 && { servers: [...servers] }),
      ...(sessionCost && { sessionUsage: costView(sessionCost) }),
    }),
  };
  return options.generations ? withGenerationMetadata(task, generationOf(snapshot.counted, options)) : task;
}

function latest<T>(items: T[], count: number | undefined): T[] {
  if (count === undefined) return items;
  return count === 0 ? [] : items.slice(-count);
}

function statusOf(snapshot: Snapshot, options: WireOptions): TaskStatus {
  return { ...stateAndMessage(snapshot, options), timestamp: timestampOf(snapshot) };
}

function stateAndMessage(snapshot: Snapshot, options: WireOptions): Pick<TaskStatus, 'state' | 'message'> {
  const { status, seq } = snapshot;
  const state = TASK_STATE_CODES[status.state];
  const said = (text: string | undefined): Pick<TaskStatus, 'state' | 'message'> => ({
    state,
    message: text === undefined ? undefined : statusMessage(options, seq, text),
  });
  switch (status.state) {
    case 'input-required': {
      if (status.pending.length === 0) return said(questionText(options, status));
      const pending = pendingActions(snapshot);
      // After the last decision no tool call waits. The next event sets the state to `working`, so the task reports
      // this state now.
      return pending.length === 0
        ? { state: TASK_STATE_CODES.working, message: undefined }
        : { state, message: pendingActionsMessage(options, seq, pending) };
    }
    case 'auth-required':
      return said(status.question);
    case 'completed':
    case 'failed':
    case 'rejected':
      return said(status.message);
    case 'canceled':
      return said(canceledText(status.by, status.reason));
    case 'submitted':
    case 'working':
      return said(status.note);
  }
}

function timestampOf({ updatedAt }: Snapshot): string {
  return new Date(updatedAt).toISOString();
}

/** Builds the message for a client that gets no task (A2A 1.0 §3.1.1). */
export function messageInsteadOfTask(snapshot: Snapshot, options: WireOptions): Message {
  const text = statusOf(snapshot, options).message?.parts ?? [textPart('')];
  return {
    ...toA2aMessage(options, { role: 'agent', messageId: `${options.taskId}-answer`, parts: text }),
    taskId: '',
  };
}

/**
 * Returns the artifacts of all turns, oldest first. If two artifacts have the same id, the later one replaces the
 * earlier one. An open turn always has a text artifact, because later stream events append to it.
 */
function artifactsOf({ exchanges, openTurn }: Snapshot, options: WireOptions): Artifact[] {
  const finished = exchanges.flatMap((exchange) => (exchange.type === 'turn' ? [exchange.turn] : []));
  const artifacts = new Map<string, Artifact>();
  for (const turn of [...finished, ...(openTurn === null ? [] : [openTurn])]) {
    const words = turnArtifact(turn.turn, turn.text, RESPONSE_ARTIFACT_NAME);
    if (turn.text !== '' || turn === openTurn) artifacts.set(words.artifactId, words);
    for (const given of turn.artifacts) artifacts.set(given.artifactId, agentArtifact(options, given));
  }
  return [...artifacts.values()];
}

/**
 * Returns the artifacts besides the agent's text: the to-do list and the tool outputs. Later stream events append to
 * them or replace them.
 */
function besideAnswer({ outputs, todos }: Snapshot, options: WireOptions): Artifact[] {
  const list = todos.length === 0 ? [] : [todosArtifact(options, todos)];
  return [...list, ...outputs.map((output) => toolOutputArtifact(options, output))];
}

function historyOf(snapshot: Snapshot, options: WireOptions): Message[] {
  return [
    ...snapshot.exchanges.map((exchange) =>
      exchange.type === 'message'
        ? userMessage(options, exchange.message)
        : turnMessage(snapshot, options, exchange.turn),
    ),
    ...snapshot.queued.map((it) => userMessage(options, it)),
  ];
}

function turnMessage(snapshot: Snapshot, options: WireOptions, turn: Turn): Message {
  const calls = callsOfTurn(snapshot, turn).map(
    (call) => `${call.title}: ${fate(snapshot, call)}${verdictOn(call)}`,
  );
  const texts = [turn.text, calls.join('\n'), lastWords(turn)].filter((text) => text !== '');
  return toA2aMessage(options, {
    role: 'agent',
    messageId: `${options.taskId}-turn-${turn.turn}`,
    parts: (texts.length === 0 ? [''] : texts).map(textPart),
  });
}

function lastWords({ end }: Turn): string {
  if (end === null || typeof end === 'string') return '';
  return ('question' in end ? end.question : end.message) ?? '';
}

/** Returns the decision as text, for clients that do not read the data parts. */
function verdictOn({ decided }: Call): string {
  if (!decided) return '';
  const { decision, by } = decided;
  return ` (${decidedByText({ decision, by: by.principal, channel: by.channel })})`;
}

function fate(task: Snapshot, { state }: Call): string {
  switch (state.type) {
    case 'waiting':
      return isTerminal(task) ? NOT_RUN : 'waits for a decision';
    case 'ready':
      return isTerminal(task) ? NOT_RUN : 'about to run';
    case 'running':
      return 'running';
    case 'settled':
      switch (state.result.type) {
        case 'ran':
          return outcomeSummary(state.result.outcome);
        case 'denied':
        case 'skipped':
          return state.result.reason === null
            ? state.result.type
            : `${state.result.type}: ${state.result.reason}`;
        case 'answered':
          return `answered: ${answerText(state.result.answer)}`;
        case 'withdrawn':
          return 'withdrawn';
        case 'refused':
          return state.result.message;
      }
  }
}

const NOT_RUN = 'did not run, because the task ended first';

function overviewOf(snapshot: Snapshot): TaskOverview {
  const files = filesOfTask(snapshot);
  return {
    settings: snapshot.settings,
    grants: snapshot.grants.map(grantView),
    turns: snapshot.turns,
    calls: Object.values(snapshot.calls).map((call) => ({
      callId: call.callId,
      tool: call.tool,
      title: call.title,
      toolId: call.toolId,
      sideEffect: call.sideEffect,
      state: callStateInOverview(snapshot, call),
      ...(call.state.type === 'running' && { startedAt: new Date(call.state.startedAt).toISOString() }),
      ...(call.decided && { decided: standing(call.decided) }),
    })),
    usage: usageOf(snapshot),
    ...(snapshot.instructions.length > 0 && {
      instructions: snapshot.instructions.map(({ path, bytes, cut }) => ({ path, bytes, cut })),
    }),
    ...(files.length > 0 && { files }),
  };
}

export function usageOf({ spending }: Snapshot): TaskOverview['usage'] {
  const models = Object.entries(spending).map(([model, spent]) => ({ model, ...spent }));
  return {
    ...Object.values(spending).reduce(addSpending, NO_SPENDING),
    ...(models.length > 1 && { models }),
  };
}

function grantView({ grantId, scope, tool, source, by, at, expiresAt, usesLeft }: Grant): GrantView {
  return {
    grantId,
    scope,
    tool,
    source,
    by: by.principal,
    channel: by.channel,
    at: new Date(at).toISOString(),
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    usesLeft,
  };
}

function standing({ decision, by, at, inputHash }: AcceptedDecision): RecordedDecision {
  const { principal, channel } = by;
  return { decision, by: principal, channel, at: new Date(at).toISOString(), inputHash };
}

export function callStateInOverview(task: Snapshot, { state }: Call): TaskOverview['calls'][number]['state'] {
  // No one can decide a call of an ended task, and it never runs.
  if (state.type === 'waiting' || state.type === 'ready') return isTerminal(task) ? 'skipped' : state.type;
  if (state.type === 'running') return state.type;
  switch (state.result.type) {
    case 'ran':
      return state.result.outcome.type;
    case 'denied':
    case 'skipped':
    case 'answered':
    case 'withdrawn':
      return state.result.type;
    case 'refused':
      return 'error';
  }
}
