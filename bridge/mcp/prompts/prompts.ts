/** The texts of the MCP prompts, which the client gives to its model. Pure. */
import { joinTexts } from '../../../shared/text/join-texts.ts';
import type { ApprovalMode } from '../../settings/approval-mode.ts';
import type { NameOfTool } from '../../tool-names/tool-names.ts';

export function delegatePromptText(
  { task, agent }: { task: string; agent?: string | undefined },
  name: NameOfTool,
): string {
  const to = agent === undefined ? 'the assistant' : `agent "${agent}"`;
  return `Delegate this to ${to} with ${name('delegate_task_to_assistant')}${agent === undefined ? '' : ` (agent "${agent}")`}, in words that hold all it needs to know, since it does not see this conversation. Do not set autoExecute. If it asks for approval, show me each preview and wait for my decision. If it takes longer, tell me the session and what it is doing.

${task}`;
}

export interface WaitingReports {
  /** The full report of each waiting session, as text. */
  reports: readonly string[];
  more: number;
  /** The errors of agents that did not respond, and of sessions that could not be read. */
  problems: readonly string[];
}

/** Returns the prompt for a review. It contains the previews, so that the person sees them in every client. */
export function reviewPromptText(
  { reports, more, problems }: WaitingReports,
  { name, approvals }: { name: NameOfTool; approvals: ApprovalMode },
): string {
  const rest = joinTexts('\n\n', [
    more === 0
      ? ''
      : `${String(more)} more sessions wait: ${name('list_all_active_sessions')} with state "input_required" names them, and ${name('wait_for_task')} shows each.`,
    ...problems,
  ]);
  if (reports.length === 0)
    return joinTexts('\n\n', ['Tell me that nothing waits for my decision. Decide nothing yourself.', rest]);
  const decide =
    approvals === 'human-only'
      ? 'Decide nothing: I decide it myself, as the reports say.'
      : `Decide nothing yourself: ask me, and send just what I answer with ${name('approve_or_deny_pending_action')}.`;
  return joinTexts('\n\n', [
    `Show me what waits for my decision: for each pending action below its title, its whole preview as it stands here, and what you would check before approving it. ${decide}`,
    ...reports,
    rest,
  ]);
}

export function resumePromptText({ session }: { session?: string | undefined }, name: NameOfTool): string {
  const which =
    session === undefined
      ? `List the sessions with ${name('list_all_active_sessions')} and take the newest one; if several could be meant, ask me which`
      : `Take session "${session}"`;
  return `Go on with delegated work. ${which}. Look at it with ${name('check_task_progress_and_status')}, then: if it has ended, get its result with ${name('wait_for_task')} and tell me the result; if it waits for a decision, show me what waits; if it works, wait for it with ${name('wait_for_task')}. Do not delegate anything again.`;
}
