/** The values that bind a decision (D2): the hash of an input, and the code of the content that a person sees. */
import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';

/** The number of hex digits of a code. */
export const SHOWN_DIGITS = 8;

/**
 * The first 8 hex digits of the SHA-256 of the canonical JSON of the shown content. Equal codes mean the same question.
 * The code gives no rights.
 */
export function shownCode(...shown: readonly unknown[]): string {
  return createHash('sha256')
    .update(stringify(shown) ?? '')
    .digest('hex')
    .slice(0, SHOWN_DIGITS);
}

/** SHA-256 (hex) of the canonical JSON of a tool's input. */
export function inputHash(input: Record<string, unknown>): string {
  return createHash('sha256')
    .update(stringify(input) ?? '')
    .digest('hex');
}
