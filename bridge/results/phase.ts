/** What a task is doing, in a few words. Pure. */
import type { TaskView } from '../sessions/view.ts';
import { toMcpState } from './session-report.ts';

/** @param view undefined while the agent has not answered yet */
export function phaseOf(view: TaskView | undefined): string {
  if (view === undefined) return 'the agent has not answered yet';
  if (view.pending.length > 0) return `waits for ${String(view.pending.length)} decision(s)`;
  if (view.question !== null) return 'waits for an answer';
  const running = view.calls.filter((call) => call.state === 'running');
  if (running.length > 0) return `runs ${running.map((call) => call.title).join(', ')}`;
  if (view.state === 'working') return 'the model is thinking';
  return toMcpState(view.state);
}
