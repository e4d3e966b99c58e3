/** Text of others, made safe to show on a terminal. Pure. */

/** What moves the cursor, changes colours or turns the direction of reading; not line breaks and tabs. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * What an agent, a tool or a file says must not be able to rewrite what a person reads before they decide: every control
 * character is shown as its code, e.g. `\u{1b}`.
 */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, (char) =>
    char === '\n' || char === '\t' ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** The same, on one line. */
export function visibleLine(text: string): string {
  return visible(text.replaceAll(/\s+/g, ' ').trim());
}
