/** The hash a decision binds to (D2). */
import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';

/** SHA-256 (hex) of the canonical JSON of a tool's input. */
export function inputHash(input: Record<string, unknown>): string {
  return createHash('sha256')
    .update(stringify(input) ?? '')
    .digest('hex');
}
