/** Faults that change no behaviour, so that no test can find them. Each has its reason. */

interface Equivalent {
  /** The name of the file. */
  file: string;
  /** The line of the source, without its indentation. */
  line: string;
  /** `original → replacement` */
  change: string;
}

const EQUIVALENTS: readonly (Equivalent & { why: string })[] = [];

export function isEquivalent({ file, line, change }: Equivalent): boolean {
  return EQUIVALENTS.some((it) => it.file === file && it.line === line && it.change === change);
}
