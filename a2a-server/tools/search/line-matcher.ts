/** Where in a line a pattern matches: pure, and no faster than the pattern lets it be. */
import { textFinder } from '../text-finder.ts';

export interface LinePattern {
  pattern: string;
  regex: boolean;
  caseSensitive: boolean;
}

/** The index of the first match in the line, or -1. */
export type LineMatcher = (line: string) => number;

/** @throws Error with a sentence for a regular expression that is none. */
export function lineMatcher({ pattern, regex, caseSensitive }: LinePattern): LineMatcher {
  if (regex) {
    const expression = compile(pattern, caseSensitive ? '' : 'i');
    return (line) => line.search(expression);
  }
  if (caseSensitive) {
    const find = textFinder(pattern);
    return (line) => find(line);
  }
  const find = textFinder(pattern.toLowerCase());
  return (line) => find(line.toLowerCase());
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
