/**
 * Makes and checks the one-time codes that allow the registration of a passkey. A code is a record, so only a program
 * that can write to the state directory or to the servers' database can make one. A bearer token and a sign-in of the
 * page are not enough. The records contain hashes, so a reader of the records learns no code.
 */
import { randomBytes } from 'node:crypto';
import { sha256 } from '../../shared/runtime/sha256.ts';
import { z } from 'zod';
import { createExpiringRecords, type ExpiringRecords } from '../records/expiring-records.ts';
import type { RecordStore } from '../records/record-store.ts';

export const REGISTRATION_CODE_MS = 10 * 60_000;

const codeSchema = z.strictObject({
  principal: z.string(),
  /** The end of the code's validity, in milliseconds since 1970. */
  expiresAt: z.number(),
});

function codesIn(
  records: Omit<RecordStore, 'watch'>,
  now: () => number,
): ExpiringRecords<z.infer<typeof codeSchema>> {
  return createExpiringRecords(records, 'passkey-codes', { schema: codeSchema, now });
}

/**
 * Makes a code for this principal, and deletes expired codes.
 * @param now milliseconds since 1970
 * @throws ProductError STORAGE
 */
export async function issueRegistrationCode(
  records: Omit<RecordStore, 'watch'>,
  principal: string,
  now: number,
): Promise<string> {
  const code = randomBytes(32).toString('base64url');
  const expiresAt = now + REGISTRATION_CODE_MS;
  await codesIn(records, () => now).add(sha256(code), { principal, expiresAt });
  return code;
}

export type RegistrationCodeVerifier = ReturnType<typeof createRegistrationCodes>;

export function createRegistrationCodes(records: RecordStore, now: () => number) {
  const codes = codesIn(records, now);
  /** @throws ProductError STORAGE */
  const isValid = async (code: string, principal: string): Promise<boolean> => {
    const known = await codes.read(sha256(code));
    return known !== undefined && known.principal === principal && known.expiresAt > now();
  };
  return {
    isValid,
    /**
     * Uses up the code. Returns false if it is not valid, or if another request was faster.
     * @throws ProductError STORAGE
     */
    use: async (code: string, principal: string): Promise<boolean> =>
      (await isValid(code, principal)) && codes.remove(sha256(code)),
  };
}
