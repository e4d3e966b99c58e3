/** `check_task_progress_and_status`: a short look at a task, without waiting. */
import { z } from 'zod';
import { personStep } from '../approvals/person-step.ts';
import { nextStep } from '../results/next-step.ts';
import { phaseOf } from '../results/phase.ts';
import { runningTools } from '../results/running-tools.ts';
import { mcpState, sourceText, toMcpState } from '../results/session-report.ts';
import type { Session } from '../sessions/session.ts';
import { statusText } from '../results/status-text.ts';
import * as fields from './fields.ts';
import { defineTool } from './tool.ts';

export const statusReport = z.object({
  sessionId: z.string(),
  agent: z.string(),
  taskId: z.string().nullable(),
  state: mcpState,
  phase: z.string().describe('What it is doing, in a few words.'),
  message: z.string(),
  tools: z.array(
    z.object({
      tool: z.string(),
      title: z.string(),
      state: z.string(),
      toolId: z.string().nullable(),
      startedAt: z.string().nullable(),
    }),
  ),
  pending: z.array(z.object({ callId: z.string(), tool: z.string(), title: z.string(), source: z.string() })),
  question: z.string().nullable(),
  cost: z.object({ turns: z.number(), inputTokens: z.number(), outputTokens: z.number() }).nullable(),
  changes: z.array(z.string()).describe('What happened since the cursor that was given, oldest first.'),
  changesComplete: z.boolean().describe('False when more may have happened than this bridge has seen.'),
  cursor: z.number().describe('Pass it as since next time.'),
  notes: z.array(z.string()),
  next: z.string(),
});
export type StatusReport = z.infer<typeof statusReport>;

const SHOWN_TOOLS = 5;
const SHOWN_CHANGES = 15;

export const checkTask = defineTool({
  name: 'check_task_progress_and_status',
  title: 'Check a task',
  description: `A short look at where a session's task stands: its state, what it is doing, its last tools, what waits for a decision, and what changed since the cursor of an earlier look. Does not wait. For the full result, or the previews of pending actions, use wait_for_task.`,
  input: z.strictObject({
    sessionId: fields.sessionId,
    since: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe('The cursor of an earlier look: only what changed since is told.'),
  }),
  output: statusReport,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  async run({ sessionId, since }, call) {
    const session = await call.bridge.sessions.find(sessionId);
    // What the stream does not carry, such as the cost, only the agent can say.
    await session.look();
    const structured = {
      ...statusOf(session, since, personStep(session, call) ?? nextStep(session, 'time', call.name)),
      notes: [...call.news()],
    };
    return { structured, text: statusText(structured), running: runningTools(session) };
  },
});

function statusOf(session: Session, since: number | undefined, next: string): Omit<StatusReport, 'notes'> {
  const { view, steps } = session;
  const changes = steps.filter((step) => step.cursor > (since ?? 0)).map((step) => step.words);
  const first = steps[0]?.cursor ?? session.cursor;
  return {
    sessionId: session.id,
    agent: session.agent.name,
    taskId: view === undefined || view.taskId === '' ? null : view.taskId,
    state: view === undefined ? 'working' : toMcpState(view.state),
    phase: phaseOf(view),
    message:
      view === undefined || view.pending.length > 0 || view.question !== null ? '' : view.text.slice(0, 500),
    tools: (view?.calls ?? [])
      .slice(-SHOWN_TOOLS)
      .map(({ tool, title, state, toolId, startedAt }) => ({ tool, title, state, toolId, startedAt })),
    pending: (view?.pending ?? []).map(({ callId, tool, title, source }) => ({
      callId,
      tool,
      title,
      source: sourceText(source),
    })),
    question: view?.question?.text.slice(0, 500) ?? null,
    cost: view?.cost ?? null,
    changes: changes.slice(-SHOWN_CHANGES),
    changesComplete:
      changes.length <= SHOWN_CHANGES &&
      (since === undefined ? steps.length > 0 && first <= 2 : since >= first - 1),
    cursor: session.cursor,
    next,
  };
}
