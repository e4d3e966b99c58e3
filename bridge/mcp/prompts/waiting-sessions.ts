/** Finds the sessions that wait for a person, and formats a report of each. */
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import { humanOnlyGuidance } from '../reports/human-only-guidance.ts';
import type { BridgeContext } from '../bridge-context.ts';
import { nextStepText } from '../reports/next-step.ts';
import { sessionResultOf } from '../reports/session-result.ts';
import { sessionText } from '../reports/session-text.ts';
import { WAITING_STATES } from '../../sessions/list-sessions.ts';
import { asksPerson } from '../../sessions/session/observed-task.ts';
import type { Session } from '../../sessions/session/session.ts';
import { currentSessionReport, recordIncompletePreviews } from '../tool/session-reply.ts';
import type { NameOfTool } from '../../tool-names/tool-names.ts';
import type { WaitingReports } from './prompts.ts';

/** The maximum number of reports in one prompt. A report may be as long as the result of a tool. */
const MAX_REPORTS = 3;

/**
 * Returns reports of the sessions that wait for a person, at most `MAX_REPORTS`.
 * @param only the id of one session; undefined for all sessions
 * @throws ProductError UNKNOWN_SESSION if the session does not exist; other errors if its agent cannot be reached
 */
export async function reportWaitingSessions(
  bridge: BridgeContext,
  only: string | undefined,
  name: NameOfTool,
): Promise<WaitingReports> {
  const { sessions } = bridge;
  const report = async (id: string, agent?: string): Promise<string[]> => {
    const session = await sessions.find(id, { agent });
    await session.refresh();
    return asksPerson(session.view) ? [reportText(session, bridge, name)] : [];
  };
  if (only !== undefined) return { reports: await report(only), more: 0, problems: [] };
  const { sessions: all, unreachable } = await sessions.list({ states: WAITING_STATES });
  const waiting = all.filter(({ state }) => state !== 'unknown');
  const reports: string[] = [];
  const failures: string[] = [];
  for (const { sessionId, agent } of waiting.slice(0, MAX_REPORTS))
    try {
      // The agent is named too, because two agents may use the same session id.
      reports.push(...(await report(sessionId, agent)));
    } catch (error) {
      failures.push(`Session "${sessionId}" of agent "${agent}" could not be read: ${errorMessageOf(error)}`);
    }
  return {
    reports,
    more: Math.max(0, waiting.length - MAX_REPORTS),
    problems: [
      ...failures,
      ...unreachable.map(({ agent, message }) => `No answer from agent "${agent}": ${message}`),
    ],
  };
}

function reportText(session: Session, bridge: BridgeContext, name: NameOfTool): string {
  const { program } = bridge;
  const next = humanOnlyGuidance(session, { bridge, name }) ?? nextStepText(session, 'settled', name);
  const report = currentSessionReport(session, { notes: [], next, program });
  recordIncompletePreviews({ bridge }, report);
  return sessionText(sessionResultOf(report, { type: 'first' }));
}
