/** The MCP tool `check_task_progress_and_status`: returns a short status of a task. It does not wait. */
import { z } from 'zod';
import { fetchJournalProblem } from '../../agents/journal-problem.ts';
import { type ShownPending, waysToDecideText } from '../../approvals/ways-to-decide.ts';
import { humanOnlyGuidance } from '../reports/human-only-guidance.ts';
import { statusReportOf, statusReportSchema } from '../reports/status-report.ts';
import { shortNextStepText } from '../reports/next-step.ts';
import { toolExecutions } from '../reports/tool-executions.ts';
import { statusText } from '../reports/status-text.ts';
import type { Session } from '../../sessions/session/session.ts';
import { sessionProblem } from '../../sessions/session/session-state.ts';
import * as fields from '../tool/input-fields.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';

export const checkTaskTool = defineBridgeTool({
  name: 'check_task_progress_and_status',
  title: 'Check a task',
  description: `Says briefly where a session's task stands: its state, its last tools, what waits for a decision, and what changed since the cursor of an earlier status. Does not wait. wait_for_task has the full result and the previews.`,
  input: z.strictObject({
    sessionId: fields.sessionIdSchema,
    agent: fields.ownerAgentSchema,
    since: z.number().int().min(0).optional().describe('The cursor of an earlier status.'),
  }),
  output: statusReportSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  async run({ sessionId, agent, since }, call) {
    const session = await call.bridge.sessions.find(sessionId, { agent });
    // The stream does not contain everything, such as the cost. So the bridge fetches the task.
    await session.fetchTask().catch((error: unknown) => {
      if (session.stateName !== 'unknown-to-agent') throw error;
    });
    const stalled = session.settled ? undefined : await fetchJournalProblem(session.agent);
    const onlyPerson = humanOnlyGuidance(session, call);
    const structured = {
      ...statusReportOf({
        sessionId: session.id,
        agent: session.agent.name,
        state: session.stateName,
        view: session.view,
        cursor: session.cursor,
        ...session.changesSince(since),
        problem: sessionProblem(session.state) ?? session.streamProblem?.message,
        now: Date.now(),
        next:
          onlyPerson === undefined
            ? shortNextStepText(session, call.name)
            : `${onlyPerson} ${waysToDecideText(session, { waiting: toUnseenPending(session), program: call.bridge.program })}`,
      }),
      notes: [...call.news(), ...(stalled === undefined ? [] : [stalled])],
    };
    return { structured, text: statusText(structured), executions: toolExecutions(session) };
  },
});

/**
 * Returns what waits, as if all previews were cut, because the short status contains no previews. A person must see an
 * action before deciding on it. So the command line for it is `show`.
 */
function toUnseenPending({ pendingInput: { pending, question } }: Session): ShownPending {
  return { pending: pending.map(({ shown, decisions }) => ({ shown, cut: 1, decisions })), question };
}
