/** A named pipe on which a shell command waits until a test releases it. */
import { afterEach } from '@jest/globals';
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface Gate {
  /** The shell command that waits at the gate. */
  wait: string;
  /** Releases one waiting command, or the next one that arrives. */
  pass: () => Promise<void>;
}

const handles: FileHandle[] = [];

// Closing the pipe releases all waiting commands, so no process outlives the test.
afterEach(async () => {
  for (const handle of handles.splice(0)) await handle.close();
});

export async function makeGate(directory: string, name = 'gate'): Promise<Gate> {
  const path = join(directory, name);
  await promisify(execFile)('mkfifo', [path]);
  // Opening for reading and writing does not block. A line stays in the pipe until a command reads it.
  const handle = await open(path, constants.O_RDWR);
  handles.push(handle);
  return {
    wait: `read go < '${path}'`,
    pass: async () => {
      await handle.write('go\n');
    },
  };
}
