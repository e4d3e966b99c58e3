/**
 * Stores the registered passkeys. A passkey has only a public key, so its record has no secret. But a program that can
 * write to the records can add a passkey.
 */
import { z } from 'zod';
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import { sha256 } from '../../shared/runtime/sha256.ts';
import type { RecordStore } from '../records/record-store.ts';

const passkeySchema = z.strictObject({
  principal: z.string(),
  /** The credential id in base64url. */
  id: z.string(),
  name: z.string(),
  rpId: z.string(),
  /** The COSE public key in base64url. */
  publicKey: z.string(),
  /** The signature counter at the last use. 0 for a passkey without a counter. */
  count: z.number(),
  transports: z.array(z.string()),
  /** The time of the registration, as in RFC 3339. */
  registeredAt: z.string(),
});
export type Passkey = z.infer<typeof passkeySchema>;

export type PasskeyStore = ReturnType<typeof createPasskeyStore>;

export function createPasskeyStore(records: RecordStore) {
  return {
    /** Returns the principal's passkeys. @throws ProductError STORAGE, also if one is damaged */
    async list(principal: string): Promise<Passkey[]> {
      const all = [...(await records.list('passkeys')).values()].map(parsePasskey);
      return all.filter((passkey) => passkey.principal === principal);
    },
    /** Adds the passkey, or replaces the principal's passkey with this id. @throws ProductError STORAGE */
    put: (passkey: Passkey): Promise<void> =>
      records.replace('passkeys', nameOf(passkey.principal, passkey.id), textOf(passkey)),
    /** Removes a passkey. Returns false if there is no such passkey. @throws ProductError STORAGE */
    remove: (principal: string, id: string): Promise<boolean> =>
      records.remove('passkeys', nameOf(principal, id)),
    /**
     * Replaces a passkey. Returns false, and changes nothing, if it was changed or removed since it was read.
     * @throws ProductError STORAGE
     */
    swap: (before: Passkey, after: Passkey): Promise<boolean> =>
      records.swap('passkeys', nameOf(before.principal, before.id), {
        before: textOf(before),
        after: textOf(after),
      }),
  };
}

/** Returns the record name of a passkey. It is a hash, because a credential id can be longer than a record name. */
function nameOf(principal: string, id: string): string {
  return sha256(JSON.stringify([principal, id]));
}

/** Returns the stored text of a passkey. Equal passkeys have equal texts, so `swap` can compare them. */
function textOf(passkey: Passkey): string {
  return JSON.stringify(passkeySchema.parse(passkey), null, 2);
}

function parsePasskey(text: string): Passkey {
  try {
    return passkeySchema.parse(JSON.parse(text));
  } catch (error) {
    throw new ProductError(
      'STORAGE',
      `A stored passkey cannot be used: ${errorMessageOf(error)}. Nothing was decided. Delete it, and register the passkey again.`,
      { cause: error },
    );
  }
}
