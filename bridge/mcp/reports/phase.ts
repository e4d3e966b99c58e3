/** Describes in a few words what a task is doing. Pure. */
import { countWithNoun } from '../../../shared/text/one-line.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { CallViewState, TaskView } from '../../sessions/session/observed-task.ts';
import type { SessionStateName } from '../../dialects/observation.ts';
import { toClientSessionState } from '../../dialects/session-state-for-client.ts';

const MAX_TITLE_CHARACTERS = 200;

/**
 * Returns what the task is doing, such as `waits for 2 decisions`.
 * @param view the view of the task; undefined before the agent has responded
 */
export function phaseText(view: TaskView | undefined, state?: SessionStateName): string {
  if (state === 'not-delivered') return 'not delivered yet';
  if (state === 'unknown-to-agent') return 'the agent does not know the task';
  if (view === undefined) return 'the agent has not answered yet';
  if (view.pending.length > 0 && view.pending.every(({ reason }) => reason === 'question'))
    return 'waits for an answer';
  if (view.pending.length > 0) return `waits for ${countWithNoun(view.pending.length, 'decision')}`;
  if (view.question !== null) return 'waits for an answer';
  const running = view.calls.filter((call) => call.state === 'running');
  if (running.length > 0)
    return `running: ${running.map((call) => visibleLine(call.title, MAX_TITLE_CHARACTERS)).join(', ')}`;
  if (view.state === 'working') return 'the model is thinking';
  return toClientSessionState(view.state);
}

/**
 * Returns a list with one line, such as `tools: 3 done, 1 running, 2 waiting`: the numbers of the task's tool calls by
 * state. The list is empty if there are no tool calls.
 */
export function callCounts(view: TaskView | undefined): readonly string[] {
  const calls = view?.calls ?? [];
  if (calls.length === 0) return [];
  const count = (...states: readonly CallViewState[]): number =>
    calls.filter(({ state }) => states.includes(state)).length;
  const running = count('running');
  const waiting = count('waiting', 'ready');
  const counts = [
    `${String(calls.length - running - waiting)} done`,
    ...(running === 0 ? [] : [`${String(running)} running`]),
    ...(waiting === 0 ? [] : [`${String(waiting)} waiting`]),
  ];
  return [`tools: ${counts.join(', ')}`];
}
