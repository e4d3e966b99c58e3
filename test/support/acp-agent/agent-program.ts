/** Provides the test ACP agent as a program: bundled once, with a state directory per test. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleProgram } from '../../../scripts/bundle-program.mjs';
import { temporaryDirectory } from '../temporary-directory.ts';

export interface AgentProgram {
  command: string;
  args: string[];
  stateDir: string;
  /** The prompts that the agent has received, in order. */
  prompts: () => Promise<string[]>;
  /** Makes the agent's next process resume each session one step later. */
  skipStep: () => Promise<void>;
  /** Signs the person in, for an agent that requires a sign-in. */
  signIn: () => Promise<void>;
  /** The permission decisions that the agent has received, in order: the tool call id and the chosen option. */
  answers: () => Promise<string[]>;
}

/** @param modes the modes of the agent; see program.ts */
export async function agentProgram(...modes: string[]): Promise<AgentProgram> {
  const stateDir = await temporaryDirectory();
  const lines = async (name: string): Promise<string[]> =>
    (await readFile(join(stateDir, name), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  return {
    command: process.execPath,
    args: [
      await bundleProgram('test/support/acp-agent/program.ts', { withPackages: true }),
      stateDir,
      ...modes,
    ],
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
