/** The title of a task: its first words, on one line. Pure. */

/** The maximum length, in characters. */
const TITLE = 80;

export function titleOf(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > TITLE ? `${line.slice(0, TITLE)}…` : line;
}
