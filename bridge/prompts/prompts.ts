/** What the prompts say to the client's model. Pure. */
import type { ToolName } from '../tools/tool-name.ts';

/** A tool's name as this client sees it. */
type Named = (tool: ToolName) => string;

export function delegatePrompt(
  { task, agent }: { task: string; agent?: string | undefined },
  name: Named,
): string {
  const to = agent === undefined ? 'the assistant' : `agent "${agent}"`;
  return `Delegate this to ${to} with ${name('delegate_task_to_assistant')}${agent === undefined ? '' : ` (agent "${agent}")`}, in words that hold all it needs to know, since it does not see this conversation. Do not set autoExecute. If it asks for approval, show me each preview and wait for my decision. If it takes longer, tell me the session and what it is doing.

${task}`;
}

export function reviewPrompt({ session }: { session?: string | undefined }, name: Named): string {
  const which =
    session === undefined
      ? `List the sessions that wait with ${name('list_all_active_sessions')} and state "input_required". For each, call ${name('wait_for_task')}`
      : `Call ${name('wait_for_task')} with sessionId "${session}"`;
  return `Show me what waits for my decision. ${which}, and show me for each pending action its title, its whole preview, and what you would check before approving it. Decide nothing yourself: ask me, and send just what I answer with ${name('approve_or_deny_pending_action')}.`;
}

export function resumePrompt({ session }: { session?: string | undefined }, name: Named): string {
  const which =
    session === undefined
      ? `List the sessions with ${name('list_all_active_sessions')} and take the newest one; if several could be meant, ask me which`
      : `Take session "${session}"`;
  return `Go on with delegated work. ${which}. Look at it with ${name('check_task_progress_and_status')}, then: if it has ended, get its result with ${name('wait_for_task')} and tell me what came of it; if it waits for a decision, show me what waits; if it works, wait for it with ${name('wait_for_task')}. Do not delegate anything again.`;
}
