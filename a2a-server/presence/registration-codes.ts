/**
 * One-time codes that allow the registration of a passkey. A code is a file in the state directory, so only a program
 * that can write there can make one. A bearer token and a sign-in of the page are not enough. The files contain hashes,
 * so a reader of the files learns no code.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createFile } from '../../shared/state/atomic-file.ts';
import { systemErrorCode } from '../../shared/runtime/errors.ts';

export const REGISTRATION_MS = 10 * 60_000;

const codeFile = z.strictObject({
  principal: z.string(),
  /** In milliseconds since 1970. */
  expiresAt: z.number(),
});

const directoryOf = (stateDirectory: string): string => join(stateDirectory, 'passkey-codes');

/** Makes a code for this principal, and deletes expired codes. @param now milliseconds since 1970 */
export async function makeRegistrationCode(
  stateDirectory: string,
  principal: string,
  now: number,
): Promise<string> {
  const directory = directoryOf(stateDirectory);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const known = await readCode(path);
    if (known === undefined || known.expiresAt <= now) await rm(path, { force: true });
  }
  const code = randomBytes(32).toString('base64url');
  const content = JSON.stringify({ principal, expiresAt: now + REGISTRATION_MS });
  await createFile(join(directory, digestOf(code)), content);
  return code;
}

export interface RegistrationCodes {
  isValid(code: string, principal: string): Promise<boolean>;
  /** Uses up the code. Returns false if it is not valid, or if another request was faster. */
  use(code: string, principal: string): Promise<boolean>;
}

export function registrationCodes(stateDirectory: string, now: () => number): RegistrationCodes {
  const pathOf = (code: string): string => join(directoryOf(stateDirectory), digestOf(code));
  const isValid = async (code: string, principal: string): Promise<boolean> => {
    const known = await readCode(pathOf(code));
    return known !== undefined && known.principal === principal && known.expiresAt > now();
  };
  return {
    isValid,
    async use(code, principal) {
      if (!(await isValid(code, principal))) return false;
      try {
        // Only one of several requests can delete the file.
        await unlink(pathOf(code));
        return true;
      } catch (error) {
        if (systemErrorCode(error) === 'ENOENT') return false;
        throw error;
      }
    },
  };
}

async function readCode(path: string): Promise<z.infer<typeof codeFile> | undefined> {
  try {
    return codeFile.safeParse(JSON.parse(await readFile(path, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** The name of the file is a hash, so a client cannot name another file. */
function digestOf(code: string): string {
  return createHash('sha256').update(code).digest('hex');
}
