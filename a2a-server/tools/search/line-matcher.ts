/** Where in a line a pattern matches: pure. */
import { textFinder } from '../text-finder.ts';

export interface LinePattern {
  pattern: string;
  regex: boolean;
  caseSensitive: boolean;
}

export interface LineMatcher {
  /** The index of the first match in the line, or -1. */
  at(line: string): number;
  /** False only if no line of the text matches; cheaper than looking at each. */
  mayMatch(text: string): boolean;
  /** Whether it is as fast on any line as on any other of its length. A regular expression need not be. */
  readonly steady: boolean;
}

/** @throws Error with a sentence for a regular expression that is none. */
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
      `The pattern is not a regular expression of JavaScript (${String(cause)}); correct it, or leave out regex to search for it as it is.`,
      { cause },
    );
  }
}
