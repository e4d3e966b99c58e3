/** Cuts a text at its end. */

/** Returns the first `limit` UTF-16 units, without half a character at the end. */
export function truncate(text: string, limit: number): string {
  return text.length <= limit ? text : text.slice(0, limit).replace(/[\ud800-\udbff]$/u, '');
}
