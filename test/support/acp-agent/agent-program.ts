/** The ACP agent of a test as a program that can be started: bundled once, with a state directory for each test. */
import { build } from 'esbuild';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../temporary-directory.ts';

export interface AgentProgram {
  command: string;
  args: string[];
  stateDir: string;
  /** Every prompt it was given, in order. */
  prompts: () => Promise<string[]>;
  /** Has the next process of it take its sessions up one step later. */
  skipStep: () => Promise<void>;
  /** Lets one that wants a sign-in have it. */
  signIn: () => Promise<void>;
  /** What it was answered, in order: the id of its tool call and the option chosen. */
  answers: () => Promise<string[]>;
}

let bundled: Promise<string> | undefined;

/** @param modes how it is to behave; see program.ts. */
export async function agentProgram(...modes: string[]): Promise<AgentProgram> {
  bundled ??= bundle();
  const stateDir = await temporaryDirectory();
  const lines = async (name: string): Promise<string[]> =>
    (await readFile(join(stateDir, name), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  return {
    command: process.execPath,
    args: [await bundled, stateDir, ...modes],
    stateDir,
    prompts: async () => (await lines('prompts.jsonl')).map((line) => String(JSON.parse(line).text)),
    skipStep: async () => {
      for (const name of await readdir(stateDir)) {
        if (!name.endsWith('.json')) continue;
        const known = JSON.parse(await readFile(join(stateDir, name), 'utf8'));
        await writeFile(join(stateDir, name), JSON.stringify({ ...known, next: known.next + 1 }));
      }
    },
    signIn: () => writeFile(join(stateDir, 'signed-in'), ''),
    answers: async () =>
      (await lines('answers.jsonl')).map((line) => `${JSON.parse(line).id}: ${JSON.parse(line).option}`),
  };
}

async function bundle(): Promise<string> {
  // Test files run side by side, each in a process of its own.
  const outfile = join('node_modules', '.cache', 'mcp-a2a-bridge', `acp-${process.pid}`, 'test-agent.mjs');
  await build({
    entryPoints: [join('test', 'support', 'acp-agent', 'program.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
  });
  return join(process.cwd(), outfile);
}
