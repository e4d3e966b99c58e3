/** What a tool tells of a session. The structured result is this; the readable text is written from it and from nothing else. */
import { z } from 'zod';
import { questionText } from '../../shared/protocol/question-text.ts';
import { pendingReason, sideEffect } from '../../shared/protocol/tool-approval.ts';
import type {
  DecisionScope,
  PendingAction,
  Preview,
  ToolSource,
} from '../../shared/protocol/tool-approval.ts';
import { DECISION_WORDS, type McpDecisionWord } from '../approvals/decision-words.ts';
import type { TaskStateName } from '../dialects/observation.ts';
import { taskUri } from '../resources/task-uri.ts';
import { hasEnded, type TaskView } from '../sessions/view.ts';

/** The task states of MCP, which A2A's are mapped to. */
export const mcpState = z.enum(['working', 'input_required', 'completed', 'cancelled', 'failed', 'unknown']);
export type McpState = z.infer<typeof mcpState>;

const MCP_STATES: Readonly<Record<TaskStateName, McpState>> = {
  submitted: 'working',
  working: 'working',
  'input-required': 'input_required',
  'auth-required': 'input_required',
  completed: 'completed',
  canceled: 'cancelled',
  failed: 'failed',
  rejected: 'failed',
  unknown: 'unknown',
};

export function toMcpState(state: TaskStateName): McpState {
  return MCP_STATES[state];
}

export const costReport = z.object({
  turns: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  usd: z.number().nullable().describe('US dollars; null when the agent does not know the price.'),
});

export const sessionReport = z.object({
  sessionId: z.string().describe('The handle of the session: pass it to the other tools.'),
  agent: z.string(),
  taskId: z.string().nullable(),
  state: mcpState,
  /** What the agent's status says in words. */
  message: z.string(),
  output: z.string().describe('What the agent has said so far; when completed, its result.'),
  pending: z
    .array(
      z.object({
        callId: z.string(),
        tool: z.string(),
        title: z.string(),
        source: z.string(),
        sideEffect,
        reason: pendingReason,
        rule: z.string().optional(),
        preview: z.string(),
        input: z.record(z.string(), z.unknown()),
        expiresAt: z.string().nullable(),
        decisions: z.array(z.enum(DECISION_WORDS)),
      }),
    )
    .describe('Actions that wait for a decision. Nothing of them has run.'),
  question: z.object({ callId: z.string(), text: z.string() }).nullable(),
  calls: z
    .array(
      z.object({
        callId: z.string(),
        tool: z.string(),
        title: z.string(),
        state: z.string(),
        toolId: z.string().nullable(),
        summary: z.string().nullable(),
      }),
    )
    .describe('The tool calls so far, oldest first.'),
  cost: costReport
    .nullable()
    .describe('Null when the agent has not counted up to now; check_task_progress_and_status asks it.'),
  notes: z.array(z.string()),
  next: z.string().describe('What to do now.'),
});
export type SessionReport = z.infer<typeof sessionReport>;

/** Characters of output that are handed over; clients cut longer results, or refuse them. */
const MAX_OUTPUT = 150_000;
const SHOWN_CALLS = 50;

export interface ReportContext {
  sessionId: string;
  agent: string;
  view: TaskView | undefined;
  notes: readonly string[];
  next: string;
}

export function reportOf({ sessionId, agent, view, notes, next }: ReportContext): SessionReport {
  const output = view === undefined ? '' : outputOf(view);
  const cut = output.length > MAX_OUTPUT;
  const calls = view?.calls ?? [];
  const hidden = calls.length - SHOWN_CALLS;
  return {
    sessionId,
    agent,
    taskId: view === undefined || view.taskId === '' ? null : view.taskId,
    state: view === undefined ? 'working' : toMcpState(view.state),
    message: view === undefined || view.pending.length > 0 || view.question !== null ? '' : view.text,
    output: cut ? output.slice(0, MAX_OUTPUT) : output,
    pending: (view?.pending ?? []).map(pendingOf),
    question: questionOf(view),
    calls: calls.slice(-SHOWN_CALLS).map(({ callId, tool, title, state, toolId, summary }) => ({
      callId,
      tool,
      title,
      state,
      toolId,
      summary,
    })),
    cost: view?.cost ?? null,
    notes: [
      ...notes,
      ...(cut ? [cutNote(view, output.length)] : []),
      ...(hidden > 0 ? [`${String(hidden)} earlier tool calls are not shown.`] : []),
    ],
    next,
  };
}

/** R70: what was cut can be read, from where the cut is. */
function cutNote(view: TaskView | undefined, characters: number): string {
  const { sessionId = '', taskId = '' } = view ?? {};
  const address = { sessionId, taskId, part: 'artifacts' } as const;
  return `The output has ${String(characters)} characters; the first ${String(MAX_OUTPUT)} are shown. The rest is the resource ${taskUri(address, MAX_OUTPUT)}, all of it ${taskUri(address)}.`;
}

/** Everything the agent has put out, in order. Agents that make no artifacts say their result in the status, or just say it. */
export function outputOf(view: TaskView): string {
  const texts = view.outputs
    .filter(({ aside }) => aside === undefined)
    .map(({ text }) => text.trim())
    .filter((text) => text !== '');
  if (texts.length > 0) return texts.join('\n\n');
  if (!hasEnded(view)) return '';
  return view.text === '' ? view.reply : view.text;
}

function questionOf(view: TaskView | undefined): SessionReport['question'] {
  const question = view?.question ?? null;
  return question === null ? null : { callId: question.id, text: question.text };
}

function pendingOf(action: PendingAction): SessionReport['pending'][number] {
  const { callId, tool, title, sideEffect: effect, reason, rule, input, expiresAt } = action;
  return {
    callId,
    tool,
    title,
    source: sourceText(action.source),
    sideEffect: effect,
    reason,
    ...(rule === undefined ? {} : { rule }),
    preview: previewText(action.preview),
    input,
    expiresAt,
    decisions: decisionWordsFor(action),
  };
}

/** The words that a decision on the action may use. */
export function decisionWordsFor({ decisions, source, scopes }: PendingAction): McpDecisionWord[] {
  const words: McpDecisionWord[] = [...decisions];
  if (!decisions.includes('approve')) return words;
  const reaches = (scope: DecisionScope): boolean => scopes?.includes(scope) ?? true;
  if (reaches('tool')) words.push('trust_tool');
  if (source.type === 'mcp-server' && reaches('server')) words.push('trust_server');
  if (reaches('always')) words.push('trust_always');
  return words;
}

export function sourceText(source: ToolSource): string {
  switch (source.type) {
    case 'built-in':
      return 'built in';
    case 'mcp-server':
      return `MCP server ${source.server}`;
    case 'acp-agent':
      return `agent ${source.agent}`;
  }
}

export function previewText(preview: Preview): string {
  switch (preview.type) {
    case 'diff':
      return preview.diff;
    case 'command':
      return `$ ${preview.command}\n(in ${preview.cwd})`;
    case 'url':
      return preview.url;
    case 'json':
      return jsonText(preview.value);
    case 'question':
      return questionText(preview);
  }
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? '';
  } catch {
    return '[nested too deep to show]';
  }
}
