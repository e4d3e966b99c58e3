import type { ComponentChildren } from 'preact';

/** Matches letters that are written from right to left: the blocks of Unicode whose default class is R or AL. */
const RIGHT_TO_LEFT = /([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+)/u;

/**
 * Returns a text whose words a browser shows in their order. D5: between letters that are written from right to left, a
 * browser reverses the order of words, numbers and signs (UAX #9). It shows `cp 1 א 2` as `cp 1 2 א`, and mirrors `>`.
 */
export function inLogicalOrder(text: string): ComponentChildren {
  const parts = text.split(RIGHT_TO_LEFT);
  return parts.length === 1
    ? text
    : parts.map((part, at) => (at % 2 === 1 ? <bdi key={at}>{part}</bdi> : part));
}
