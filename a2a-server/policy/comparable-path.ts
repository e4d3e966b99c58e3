/** Makes the spellings of a path comparable, because some file systems accept several spellings for one file. Pure. */

const ASCII = /^[ -~]*$/u;

/**
 * Returns the path in one spelling. Replaces what macOS or a case-insensitive ext4 directory ignores: composed and
 * decomposed letters, other forms of a letter (`ſ` becomes `s`, `ß` becomes `ss`), and invisible characters. The case
 * of ASCII letters stays.
 */
export function comparablePath(path: string): string {
  // Most paths are ASCII. This shortcut saves time, because a search compares each of its paths with each rule.
  if (ASCII.test(path)) return path;
  return path
    .normalize('NFKC')
    .replaceAll(/[^ -~]+/gu, (letters) => letters.toLowerCase().toUpperCase().toLowerCase())
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
}
