/** Matches the kind at the start of an id, such as `session-`. */
export const ID_KIND = /^[a-z]+-/;
/** The minimum length of a shortened id, without its kind. */
export const MIN_SHORT_ID_CHARACTERS = 8;

/**
 * Returns true if the id starts with this prefix. The kind of the id, such as `session-`, may be omitted in the prefix.
 */
export function hasIdPrefix(id: string, given: string): boolean {
  return given !== '' && (id.startsWith(given) || id.replace(ID_KIND, '').startsWith(given));
}

/** Returns true if the text is as long as a shortened id in a table of the command line. */
export function isShortId(given: string): boolean {
  return given.replace(ID_KIND, '').length >= MIN_SHORT_ID_CHARACTERS;
}
