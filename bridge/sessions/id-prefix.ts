/**
 * Returns true if the id starts with this prefix. The kind of the id, such as `session-`, may be omitted in the prefix.
 */
export function hasIdPrefix(id: string, given: string): boolean {
  return given !== '' && (id.startsWith(given) || id.replace(/^[a-z]+-/, '').startsWith(given));
}
