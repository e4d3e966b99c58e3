/**
 * Keeps the words of an action in their order on a screen (D5). Between letters that are written from right to left, a
 * browser, many terminals and Claude Code reverse the order of words, numbers and signs (UAX #9). They show
 * `cp 1 א 2 > ב` as `cp 1 ב < 2 א`.
 */

/** Matches letters that are written from right to left: the blocks of Unicode whose default class is R or AL. */
const RIGHT_TO_LEFT =
  /((?:[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]\p{M}*)+)/u;

/** The invisible character LEFT-TO-RIGHT MARK. */
const LEFT_TO_RIGHT_MARK = '\u200e';

/** Splits a text. The parts with an odd index contain the letters that are written from right to left. */
export function splitAtRightToLeft(text: string): string[] {
  return text.split(RIGHT_TO_LEFT);
}

/**
 * Puts a mark before and behind each word that is written from right to left. Then a screen shows the words in their
 * order. Use it only for text that nobody copies: a copy contains the marks.
 */
export function withDirectionMarks(text: string): string {
  return splitAtRightToLeft(text)
    .map((part, at) => (at % 2 === 1 ? LEFT_TO_RIGHT_MARK + part + LEFT_TO_RIGHT_MARK : part))
    .join('');
}
