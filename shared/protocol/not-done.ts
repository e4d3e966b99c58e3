/** Names the tool calls that a completed task did not do. A model may not mention them. Pure. */
import { visibleLine } from '../text/visible-text.ts';

interface EndedCall {
  tool: string;
  title: string;
  state: string;
}

/** The ends of a call without an effect. An error is not in this list, because agents try again or report it. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['denied', 'denied'],
  ['stopped', 'stopped'],
  ['skipped', 'skipped'],
]);

const MOST = 5;
/** The maximum number of characters of a title. */
const TITLE = 100;

/**
 * E.g. `not done: Write a.txt (denied)`; '' if every call was done, and for a task that is not completed. A call that was
 * done later, with the same tool and title, counts as done.
 * @param calls oldest first
 */
export function notDoneText(state: string, calls: readonly EndedCall[]): string {
  if (state !== 'completed') return '';
  const done = new Set<string>();
  const lost = new Map<string, string>();
  for (const call of calls.toReversed()) {
    const key = JSON.stringify([call.tool, call.title]);
    const word = WORDS.get(call.state);
    if (call.state === 'ok') done.add(key);
    else if (word !== undefined && !done.has(key) && !lost.has(key))
      lost.set(key, `${visibleLine(call.title, TITLE)} (${word})`);
  }
  if (lost.size === 0) return '';
  const named = [...lost.values()].slice(0, MOST).toReversed();
  const more = lost.size - named.length;
  return `not done: ${named.join(', ')}${more === 0 ? '' : `, and ${String(more)} more`}`;
}
