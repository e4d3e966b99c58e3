/** What a task is about, on one line: its first words. Pure. */

/** Characters. */
const TITLE = 80;

export function titleOf(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > TITLE ? `${line.slice(0, TITLE)}…` : line;
}
