import { createSubstringFinder } from './find-substring.ts';

interface LinePattern {
  pattern: string;
  regex: boolean;
  caseSensitive: boolean;
}

export interface LineMatcher {
  /** Returns the index of the first match in the line, or -1. */
  at(line: string): number;
  /**
   * Returns false only if no line of the text can match. One check of the whole text is cheaper than a check of each
   * line.
   */
  mayMatch(text: string): boolean;
  /**
   * True if the time depends only on the length of the line. False for a regular expression, which can be slower for
   * some lines.
   */
  readonly steady: boolean;
}

/** Prepares a pattern for matching. @throws Error if the regular expression is invalid */
export function createLineMatcher({ pattern, regex, caseSensitive }: LinePattern): LineMatcher {
  if (regex) {
    const expression = compile(pattern, caseSensitive ? '' : 'i');
    return { at: (line) => line.search(expression), mayMatch: () => true, steady: false };
  }
  const find = createSubstringFinder(caseSensitive ? pattern : pattern.toLowerCase());
  const at = caseSensitive ? (text: string) => find(text) : (text: string) => find(text.toLowerCase());
  return { at, mayMatch: (text) => at(text) !== -1, steady: true };
}

function compile(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch (cause) {
    throw new Error(
      `The pattern is not a JavaScript regular expression (${String(cause)}). Correct it, or omit regex to search for the exact text.`,
      { cause },
    );
  }
}
