/** Creates a directory for one test and removes it afterwards. */
import { afterEach } from '@jest/globals';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const directories: string[] = [];

export async function temporaryDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'mcp-a2a-bridge-')));
  directories.push(directory);
  return directory;
}

afterEach(async () => {
  // A journal that a test leaves open may write a file at this moment, so `rm` tries again.
  for (const directory of directories.splice(0))
    await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 10 });
});
