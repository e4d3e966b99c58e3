/** A named pipe at which a shell command waits until a test lets it pass. */
import { afterEach } from '@jest/globals';
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Gate {
  /** The part of a shell command that waits. */
  wait: string;
  /** Lets one pass: the one that waits, or the next that comes. */
  pass: () => Promise<void>;
}

const handles: FileHandle[] = [];

// Whoever still waits reads the end of the file, and goes on: no process outlives the test.
afterEach(async () => {
  for (const handle of handles.splice(0)) await handle.close();
});

export async function makeGate(directory: string, name = 'gate'): Promise<Gate> {
  const path = join(directory, name);
  await promisify(execFile)('mkfifo', [path]);
  // Opened for reading as well, which waits for nobody; a line stays in the pipe until somebody reads it.
  const handle = await open(path, constants.O_RDWR);
  handles.push(handle);
  return {
    wait: `read go < '${path}'`,
    pass: async () => {
      await handle.write('go\n');
    },
  };
}
