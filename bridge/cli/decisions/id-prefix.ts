/** Ids as a person shortens them. */

/** Whether an id begins so, with or without the word that says what it is an id of, as in `session-…`. */
export function begins(id: string, given: string): boolean {
  return given !== '' && (id.startsWith(given) || id.replace(/^[a-z]+-/, '').startsWith(given));
}
