import { stringify } from 'safe-stable-stringify';
import { sha256 } from '../runtime/sha256.ts';

export const SHOWN_CODE_DIGITS = 8;

/**
 * Returns the code of what a person sees: the first 8 hex digits of the SHA-256 of the canonical JSON. D2: a decision
 * is valid only for what the person saw. Equal codes mean that the person saw the same question. The code gives no
 * rights.
 */
export function shownCode(...shown: readonly unknown[]): string {
  return sha256(stringify(shown) ?? '').slice(0, SHOWN_CODE_DIGITS);
}

/** Returns the SHA-256 (hex) of the canonical JSON of a tool's input. */
export function inputHash(input: Record<string, unknown>): string {
  return sha256(stringify(input) ?? '');
}
