/**
 * Removes secrets from `/proc/<pid>/environ`, which every process of the same user can read (proc(5)). That file shows
 * the memory that contained the environment when the process started. Deleting a variable does not change that memory.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

/**
 * The variable that marks the child processes of a server. After a crash, the next server finds surviving children by
 * this variable, so it stays visible. It is not secret.
 */
export const CHILD_MARKER = 'A2A_SERVER_CHILD';

/** Returns true if the variable may stay visible, because it contains no secret. */
type ShouldKeepVariable = (name: string) => boolean;

/**
 * Copies every variable to other memory, and overwrites the original memory. `process.env` does not change. Does
 * nothing on systems other than Linux, which have no `/proc/self/mem`. There, other processes of the same user may
 * still read the environment, e.g. with `ps -E`.
 * @returns false if a variable with a secret is still visible, for example because the kernel forbids writing to
 * `/proc/self/mem`
 */
export function hideProcEnviron(keep: ShouldKeepVariable): boolean {
  if (process.platform !== 'linux') return true;
  // Each assignment calls setenv(3), which allocates new memory for the value. After this loop, no variable uses the
  // original memory.
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) process.env[name] = value;
  try {
    overwrite(keep);
    return exposedVariables(keep).length === 0;
  } catch {
    return false;
  }
}

/**
 * Returns the names of the variables in `/proc/self/environ` that `keep` does not accept.
 * @throws the error of the file system
 */
function exposedVariables(keep: ShouldKeepVariable): string[] {
  return readFileSync('/proc/self/environ', 'latin1')
    .split('\0')
    .map(nameOf)
    .filter((name) => name !== '' && !keep(name));
}

function overwrite(keep: ShouldKeepVariable): void {
  const { start, end } = environmentRange();
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    const bytes = Buffer.alloc(end - start);
    const length = readSync(memory, bytes, 0, bytes.length, start);
    for (let from = 0; from < length;) {
      const zero = bytes.indexOf(0, from);
      const to = zero === -1 ? length : zero;
      if (!keep(nameOf(bytes.toString('latin1', from, to)))) bytes.fill(0, from, to);
      from = to + 1;
    }
    writeSync(memory, bytes, 0, length, start);
  } finally {
    closeSync(memory);
  }
}

/** Returns the memory addresses where the environment starts and ends. proc(5): fields 50 and 51 of /proc/self/stat. */
function environmentRange(): { start: number; end: number } {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  // The second field is the command in parentheses. It may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [start, end] = [Number(fields[47]), Number(fields[48])];
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start <= 0 || end <= start)
    throw new Error('the kernel does not report the address of the environment');
  return { start, end };
}

function nameOf(entry: string): string {
  const at = entry.indexOf('=');
  return at === -1 ? entry : entry.slice(0, at);
}
