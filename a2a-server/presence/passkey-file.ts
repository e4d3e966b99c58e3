/**
 * Stores the registered passkeys in a file of the state directory. A passkey has only a public key, so the file has no
 * secret. But a program that can write the file can add a passkey.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../../shared/state/atomic-file.ts';
import { messageOf, ProductError, systemErrorCode } from '../../shared/runtime/errors.ts';

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
  /** RFC 3339. */
  registeredAt: z.string(),
});
export type Passkey = z.infer<typeof passkeySchema>;

const content = z.strictObject({ passkeys: z.array(passkeySchema) });

export interface PasskeyFile {
  /** @throws ProductError STORAGE, also for a file that is not valid */
  read(): Promise<readonly Passkey[]>;
  /**
   * Applies `change` to the current passkeys. Concurrent changes run one after the other. If `change` throws, or returns
   * the same array, the file stays unchanged.
   * @throws ProductError STORAGE, or the error of `change`
   */
  change(change: (passkeys: readonly Passkey[]) => readonly Passkey[]): Promise<void>;
}

export function passkeyFile(stateDirectory: string): PasskeyFile {
  const path = join(stateDirectory, 'passkeys.json');
  let last: Promise<unknown> = Promise.resolve();
  const read = async (): Promise<readonly Passkey[]> => {
    try {
      return content.parse(JSON.parse(await readFile(path, 'utf8'))).passkeys;
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return [];
      throw unusable(path, error);
    }
  };
  const apply = async (change: (passkeys: readonly Passkey[]) => readonly Passkey[]): Promise<void> => {
    const before = await read();
    const passkeys = change(before);
    if (passkeys === before) return;
    await replaceFile(path, JSON.stringify({ passkeys }, null, 2)).catch((error: unknown) => {
      throw unusable(path, error);
    });
  };
  return {
    read,
    change(change) {
      const written = last.then(() => apply(change));
      last = written.catch(() => undefined);
      return written;
    },
  };
}

function unusable(path: string, error: unknown): ProductError {
  return new ProductError(
    'STORAGE',
    `The file of the passkeys ${path} cannot be used: ${messageOf(error)}. Nothing was decided. Restore the file, or delete it and register the passkeys again.`,
    { facts: { path }, cause: error },
  );
}
