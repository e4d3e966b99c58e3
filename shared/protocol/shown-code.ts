/** What a decision binds to (D2): the hash of an input, and the code of what a person is shown. */
import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';

/** Hex digits of a code. */
export const SHOWN_DIGITS = 8;

/**
 * The first 8 hex digits of the SHA-256 of the canonical JSON of what is shown. Equal codes mean the same question; the
 * code grants nothing.
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
