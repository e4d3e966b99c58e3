/** Names the tool calls that a completed task did not do, because the model might not mention them. */
import { visibleLine } from '../text/visible-text.ts';

interface EndedCall {
  tool: string;
  title: string;
  state: string;
  /** The id of the call's last execution. Null if the call never started. */
  toolId: string | null;
}

/**
 * The states of a tool call that did not run to its end. The state `error` is not in this set, because the agent
 * repeats the call or reports the error.
 */
const NOT_DONE: ReadonlySet<string> = new Set(['denied', 'stopped', 'skipped']);

const MAX_NAMED_CALLS = 5;
const MAX_TITLE_CHARACTERS = 100;

/**
 * Returns a text such as `not done: Write a.txt (denied)`. Returns '' if every tool call was done, or if the task is
 * not completed. If a later call with the same tool and title succeeded, the earlier call counts as done.
 * @param calls the tool calls of the task, oldest first
 */
export function notDoneText(state: string, calls: readonly EndedCall[]): string {
  if (state !== 'completed') return '';
  const done = new Set<string>();
  const lost = new Map<string, string>();
  for (const call of calls.toReversed()) {
    const key = JSON.stringify([call.tool, call.title]);
    if (call.state === 'ok') done.add(key);
    else if (NOT_DONE.has(call.state) && !done.has(key) && !lost.has(key))
      lost.set(key, `${visibleLine(call.title, MAX_TITLE_CHARACTERS)} (${fateOf(call)})`);
  }
  if (lost.size === 0) return '';
  const named = [...lost.values()].slice(0, MAX_NAMED_CALLS).toReversed();
  const more = lost.size - named.length;
  return `not done: ${named.join(', ')}${more === 0 ? '' : `, and ${String(more)} more`}`;
}

/** A skipped call with a `toolId` had started, and the server stopped while the call ran. So its effect is unknown. */
function fateOf({ state, toolId }: EndedCall): string {
  return state === 'skipped' && toolId !== null ? 'interrupted, outcome unknown' : state;
}
