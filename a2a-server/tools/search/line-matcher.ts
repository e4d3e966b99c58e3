/** Finds the position of a pattern's first match in a line. */
import { textFinder } from '../../../shared/text/linear-search.ts';

interface LinePattern {
  pattern: string;
  regex: boolean;
  caseSensitive: boolean;
}

export interface LineMatcher {
  /** The index of the first match in the line, or -1. */
  at(line: string): number;
  /** False only if no line of the text can match. One check of the whole text is cheaper than a check of each line. */
  mayMatch(text: string): boolean;
  /**
   * True if the time depends only on the length of the line. False for a regular expression, which can be slower on
   * some lines.
   */
  readonly steady: boolean;
}

/** @throws Error with a sentence for an invalid regular expression */
export function lineMatcher({ pattern, regex, caseSensitive }: LinePattern): LineMatcher {
  if (regex) {
    const expression = compile(pattern, caseSensitive ? '' : 'i');
    return { at: (line) => line.search(expression), mayMatch: () => true, steady: false };
  }
  const find = textFinder(caseSensitive ? pattern : pattern.toLowerCase());
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
