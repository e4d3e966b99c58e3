import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';

export const SHOWN_DIGITS = 8;

/**
 * D2: returns the code of the content that a person sees. The code is the first 8 hex digits of the SHA-256 of the
 * canonical JSON. Equal codes mean the same question. The code gives no rights.
 */
export function shownCode(...shown: readonly unknown[]): string {
  return createHash('sha256')
    .update(stringify(shown) ?? '')
    .digest('hex')
    .slice(0, SHOWN_DIGITS);
}

/** Returns the SHA-256 (hex) of the canonical JSON of a tool's input. */
export function inputHash(input: Record<string, unknown>): string {
  return createHash('sha256')
    .update(stringify(input) ?? '')
    .digest('hex');
}
