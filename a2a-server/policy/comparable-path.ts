/** Compares paths like file systems that give one file several spellings. Pure. */

/**
 * Returns the path without the differences that macOS ignores: composed and decomposed letters, letters with the same
 * folding such as `ſ` and `s`, and invisible characters. The case stays.
 */
export function comparablePath(path: string): string {
  return path.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
}
