/** Creates a directory and removes it after the test, or after the file if a `beforeAll` created it. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUpLater } from './clean-up.ts';

export async function temporaryDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'mcp-a2a-bridge-')));
  // A journal that a test leaves open may write a file at this moment, so `rm` tries again.
  cleanUpLater(() => rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 10 }));
  return directory;
}
