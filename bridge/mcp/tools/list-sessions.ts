/** The MCP tool `list_all_active_sessions`: lists the sessions of every agent. */
import { z } from 'zod';
import { dollarsText } from '../../../shared/text/cost-text.ts';
import { NON_TERMINAL_TASK_STATES } from '../../../shared/protocol/task-states.ts';
import { clientSessionStateSchema, toClientSessionState } from '../../dialects/session-state-for-client.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import * as fields from '../tool/input-fields.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';
import { joinTexts } from '../../../shared/text/join-texts.ts';

const sessionList = z.object({
  sessions: z.array(
    z.object({
      sessionId: z.string(),
      agent: z.string(),
      taskId: z.string().nullable(),
      state: clientSessionStateSchema,
      /** The directory of the task. Absent if it is the bridge's own directory or unknown. */
      workspace: z.string().optional(),
      /** Names the tool calls that a completed task did not do. */
      notDone: z.string().optional(),
      /** The first words of the task. */
      title: z.string(),
      /** The time of the last update in RFC 3339. '' if unknown. */
      updatedAt: z.string(),
      pending: z.number().describe('How many actions wait for a decision.'),
      usd: z.number().nullable().describe('What its tasks have cost, in US dollars; null when unknown.'),
    }),
  ),
  more: z.number().describe('How many are not shown.'),
  /** The agents that did not answer, and why. */
  unreachable: z.array(z.object({ agent: z.string(), message: z.string() })),
  notes: z.array(z.string()),
});

const MAX_LISTED_SESSIONS = 50;

export const listSessionsTool = defineBridgeTool({
  name: 'list_all_active_sessions',
  title: 'List sessions',
  description: `Lists the sessions of every agent: first those that wait for a person, then the newest. They survive restarts of the client and of the bridge.`,
  input: z.strictObject({
    state: clientSessionStateSchema.optional().describe('Only sessions in this state.'),
    agent: fields.agentSchema.describe('Only sessions of this agent.'),
  }),
  output: sessionList,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  async run({ state, agent }, call) {
    const { registry, sessions, workspaces } = call.bridge;
    const { own } = workspaces;
    const only = agent === undefined ? undefined : registry.pick(agent);
    const states = NON_TERMINAL_TASK_STATES.filter((each) => toClientSessionState(each) === state);
    const {
      sessions: all,
      unreachable,
      unread,
    } = await sessions.list({ agent: only, states: states.length === 0 ? undefined : states });
    const wanted = all
      // The codes are left out. D2: a decision is valid only for what the person saw, and this list does not show the
      // actions.
      .map(({ codes: _codes, callIds: _callIds, notDone, workspace, ...each }) => ({
        ...each,
        ...(workspace !== undefined && workspace !== own && { workspace: visibleLine(workspace) }),
        ...(notDone !== '' && { notDone }),
        title: visibleLine(each.title),
        state: toClientSessionState(each.state),
      }))
      .filter((each) => state === undefined || each.state === state);
    const structured = {
      sessions: wanted.slice(0, MAX_LISTED_SESSIONS),
      more: Math.max(0, wanted.length - MAX_LISTED_SESSIONS) + unread,
      unreachable: unreachable.map(({ reason: _reason, ...each }) => each),
      notes: [...call.news()],
    };
    return { structured, text: listText(structured, state) };
  },
});

function listText(
  { sessions, more, unreachable, notes }: z.infer<typeof sessionList>,
  state: string | undefined,
): string {
  const lines = sessions.map(
    ({ sessionId, agent, taskId, state: each, workspace, notDone, title, updatedAt, pending, usd }) =>
      `- ${visibleLine(sessionId)} (${agent}${taskId === null ? '' : `, task ${visibleLine(taskId)}`}): ${each}${notDone === undefined ? '' : ', not all done'}${pending === 0 ? '' : `, ${String(pending)} waiting for a decision`}${title === '' ? '' : ` — ${title}`}${workspace === undefined ? '' : ` in ${workspace}`}${updatedAt === '' ? '' : `, ${visibleLine(updatedAt)}`}${usd === null || usd === 0 ? '' : `, ${dollarsText(usd)}`}`,
  );
  return joinTexts('\n', [
    lines.length === 0
      ? `There are no sessions${state === undefined ? '' : ` in state ${state}`}.`
      : 'Sessions, first those that wait for a person, then the newest:',
    ...lines,
    more === 0 ? '' : `… and ${String(more)} more.`,
    lines.length === 0 ? '' : 'wait_for_task with a sessionId shows what waits, or the result.',
    ...unreachable.map(({ agent, message }) => `No answer from agent "${agent}": ${message}`),
    ...notes.map((note) => `Note: ${note}`),
  ]);
}
