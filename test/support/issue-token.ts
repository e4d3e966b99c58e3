/** Issues tokens of a running server, as its owner does. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PROGRAM } from './server-program.ts';

/** Runs `a2a-server token` with these arguments, and returns what it prints. @throws if it fails */
export async function tokenCommand(
  { stateDir }: { stateDir: string },
  ...words: readonly string[]
): Promise<string> {
  const args = [PROGRAM, 'token', ...words, '--state-dir', stateDir];
  return (await promisify(execFile)(process.execPath, args)).stdout.trim();
}

/** Returns a new token of a principal of the tenant `acme`. */
export function issueToken(
  server: { stateDir: string },
  name: string,
  ...words: readonly string[]
): Promise<string> {
  return tokenCommand(server, 'create', '--tenant', 'acme', '--name', name, ...words);
}
