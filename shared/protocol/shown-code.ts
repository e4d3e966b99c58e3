/** The code that names what a person is shown before they decide (D2). */
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
