import fc from 'fast-check';

/** The code points D800 to DFFF are halves of a surrogate pair, and no characters. */
const SURROGATES = { first: 0xd800, count: 0x800 };

/**
 * Any character, as the unit of `fc.string`. fast-check's own unit `binary` generates the same characters, but first
 * makes a table of all 1.1 million. The table takes a second and 100 MB.
 */
export const anyCharacter = fc
  .nat({ max: 0x10ffff - SURROGATES.count })
  .map(toCharacter, (character) => toNumber(character));

function toCharacter(number: number): string {
  return String.fromCodePoint(number < SURROGATES.first ? number : number + SURROGATES.count);
}

/** Lets fast-check use strings such as `__proto__`, and shrink. @throws if the value is not a character */
function toNumber(character: unknown): number {
  const point = typeof character === 'string' ? character.codePointAt(0) : undefined;
  if (point === undefined || String.fromCodePoint(point) !== character)
    throw new Error('this is not a character');
  return point < SURROGATES.first ? point : point - SURROGATES.count;
}
