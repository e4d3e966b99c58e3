/** Returns true if an id has this prefix, with or without a kind such as `session-`. */
export function hasIdPrefix(id: string, given: string): boolean {
  return given !== '' && (id.startsWith(given) || id.replace(/^[a-z]+-/, '').startsWith(given));
}
