/** Compares paths like file systems that give one file several spellings. Pure. */

const ASCII = /^[ -~]*$/u;

/**
 * Returns the path without the differences that macOS or a case-insensitive ext4 directory ignores, except the case of ASCII
 * letters: composed and decomposed letters, other forms of a letter (`ſ` becomes `s`, `ß` becomes `ss`), and invisible
 * characters.
 */
export function comparablePath(path: string): string {
  // Most paths are ASCII, and a search compares each of its paths with each rule.
  if (ASCII.test(path)) return path;
  return path
    .normalize('NFKC')
    .replaceAll(/[^ -~]+/gu, (letters) => letters.toLowerCase().toUpperCase().toLowerCase())
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
}
