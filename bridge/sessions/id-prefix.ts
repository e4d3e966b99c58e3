/** Matches shortened ids. */

/** Whether an id has this prefix, with or without its kind, as in `session-…`. */
export function hasIdPrefix(id: string, given: string): boolean {
  return given !== '' && (id.startsWith(given) || id.replace(/^[a-z]+-/, '').startsWith(given));
}
