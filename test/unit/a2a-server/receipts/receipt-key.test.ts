import { describe, expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { obtainReceiptKey } from '../../../../a2a-server/receipts/receipt-key.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

describe('the key that signs receipts', () => {
  it('is created once, and only its owner can read it', async () => {
    const directory = await temporaryDirectory();
    const [first, second] = await Promise.all([obtainReceiptKey(directory), obtainReceiptKey(directory)]);
    expect(first.equals(second)).toBe(true);
    expect((await obtainReceiptKey(directory)).equals(first)).toBe(true);
    expect((await stat(join(directory, 'receipt-key.pem'))).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['no key', 'nothing'],
    [
      'a key of another kind',
      generateKeyPairSync('x25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    ],
  ])('is refused and not replaced if its file holds %s', async (_, text) => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'receipt-key.pem');
    await writeFile(path, text, { mode: 0o600 });
    await expect(obtainReceiptKey(directory)).rejects.toMatchObject({
      reason: 'CONFIGURATION',
      message: expect.stringMatching(/no valid key; delete it, and .*older receipts/),
    });
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('X1 is refused if other users may read its file', async () => {
    const directory = await temporaryDirectory();
    await obtainReceiptKey(directory);
    await chmod(join(directory, 'receipt-key.pem'), 0o644);
    await expect(obtainReceiptKey(directory)).rejects.toThrow(/other users can read/);
  });
});
