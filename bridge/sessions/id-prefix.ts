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

/**
 * Matches the kind and the first eight digits of a UUID of version 4. Those digits are random. In other versions they
 * are a part of the time, so that many ids begin with the same digits.
 */
const FIRST_DIGITS_OF_UUID =
  /^(?:[a-z]+-)?[0-9a-f]{8}(?=-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$)/;

/**
 * Returns the kind and the first eight digits of an id that is a random UUID, such as `session-b615d150`. Returns
 * undefined for other ids.
 */
export function firstDigitsOfUuid(id: string): string | undefined {
  return FIRST_DIGITS_OF_UUID.exec(id)?.[0];
}

/** Returns true if the text is at least as long as a shortened id in a table of the command line. */
export function isShortId(given: string): boolean {
  return given.replace(ID_KIND, '').length >= MIN_SHORT_ID_CHARACTERS;
}
