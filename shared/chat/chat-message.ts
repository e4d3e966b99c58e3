/**
 * A message for a person in a chat or on a phone. D5: a person can approve only what is shown in full, and a chat cannot
 * show an action in full. So a message offers no decision, and contains neither a preview nor a code. Pure.
 */
import { ellipsize } from '../text/shortened-text.ts';
import { visibleLine } from '../text/visible-text.ts';

const MAX_ACTIONS = 10;
/** The maximum length of one line in characters. */
const MAX_LINE_CHARACTERS = 200;

export interface ChatMessage {
  title: string;
  /** The lines as plain text. They may contain text of the agent, so a receiver must not interpret markup in them. */
  lines: readonly string[];
  /** The URL of the approval page, without a credential. Undefined if the sender knows no page of this agent. */
  page: string | undefined;
}

/** Returns the lines of a message: what it is about, and at most ten actions. */
export function chatLines(about: string, actions: readonly string[]): readonly string[] {
  const more = actions.length - MAX_ACTIONS;
  return [about, ...actions.slice(0, MAX_ACTIONS), ...(more > 0 ? [`… and ${String(more)} more`] : [])].map(
    (line) => ellipsize(visibleLine(line), MAX_LINE_CHARACTERS),
  );
}
