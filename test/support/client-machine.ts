/** The home directory of a person, with the settings files of MCP clients. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from './temporary-directory.ts';

interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}
type Variables = Readonly<Record<string, string>>;
/** Runs a command in this home directory, with these environment variables. */
type RunAt = (home: string, env: Variables) => (...args: string[]) => Promise<Outcome>;

export interface ClientMachine {
  home: string;
  run: (...args: string[]) => Promise<Outcome>;
  /** Writes a settings file of the client. */
  has: (path: string, text: string) => Promise<string>;
  read: (path: string) => Promise<string>;
}

export async function clientMachine(runAt: RunAt, env: Variables = {}): Promise<ClientMachine> {
  const home = await temporaryDirectory();
  return {
    home,
    run: runAt(home, env),
    async has(path, text) {
      const file = join(home, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
      return file;
    },
    read: (path) => readFile(join(home, path), 'utf8'),
  };
}

/** A machine with these clients: programs in PATH, and directories that clients have created. */
export async function machineWithClients(
  runAt: RunAt,
  { programs = [], directories = [] }: Partial<Record<'programs' | 'directories', string[]>>,
): Promise<ClientMachine> {
  const path = await temporaryDirectory();
  for (const name of programs) await writeFile(join(path, name), '', { mode: 0o755 });
  const at = await clientMachine(runAt, { PATH: path });
  for (const name of directories) await mkdir(join(at.home, name), { recursive: true });
  return at;
}
