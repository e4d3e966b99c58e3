/** Runs the commands of docs/guides.md as a person would, in a home directory of their own. */
import { expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/temporary-directory.ts';

// This limit is for a busy machine. No test waits for it.
jest.setTimeout(120_000);

const PROGRAMS = { 'mcp-a2a-bridge': 'dist/bridge/main.js', 'a2a-server': 'dist/a2a-server/main.js' };
/** In the guide, this code stands for the code of the reader's action. */
const CODE = '4f2ac901';

interface Guide {
  title: string;
  blocks: readonly { commands: string; notRun: string | undefined }[];
}

const guides: Guide[] = readFileSync('docs/guides.md', 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    title: section.split('\n', 1)[0] ?? '',
    blocks: [...section.matchAll(/(?:<!-- not run: (.+?) -->\s+)?```sh\n([^]+?)\n\s*```/g)].map(
      ([, notRun, commands = '']) => ({ commands, notRun }),
    ),
  }));

async function home(): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'bin'));
  await mkdir(join(directory, 'work'));
  for (const [name, script] of Object.entries(PROGRAMS)) {
    const path = join(directory, 'bin', name);
    await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${resolve(script)}' "$@"\n`);
    await chmod(path, 0o755);
  }
  return directory;
}

/** @throws with the output of the commands, if one of them fails */
async function run(directory: string, commands: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: join(directory, 'work'),
    env: { HOME: directory, PATH: `${join(directory, 'bin')}:${process.env['PATH']}` },
  });
  return stdout;
}

async function withCode(directory: string, commands: string): Promise<string> {
  const at = commands.indexOf(CODE);
  if (at === -1) return run(directory, commands);
  const line = commands.lastIndexOf('\n', at);
  const before = await run(directory, commands.slice(0, line));
  const code = /code ([0-9a-f]{8})/.exec(before)?.[1] ?? '';
  return before + (await run(directory, commands.slice(line).replaceAll(CODE, code)));
}

test('the page has guides, and most of their blocks are run', () => {
  const blocks = guides.flatMap((guide) => guide.blocks);
  expect(guides).toHaveLength(6);
  expect(blocks.filter(({ notRun }) => notRun === undefined).length).toBeGreaterThan(3);
});

const runnable = guides.filter(({ blocks }) => blocks.some(({ notRun }) => notRun === undefined));
test.each(runnable.map(({ title, blocks }) => [title, blocks] as const))(
  'the commands of the guide "%s" work',
  async (title, blocks) => {
    const directory = await home();
    let printed = '';
    try {
      for (const { commands, notRun } of blocks)
        if (notRun === undefined) printed += await withCode(directory, commands);
    } finally {
      await run(directory, 'mcp-a2a-bridge server stop');
    }
    if (title.startsWith('Delegate')) expect(printed).toMatch(/hello$/);
    if (title.startsWith('Several')) expect(printed).toMatch(/here \(default\)[^]*approvals +yes/);
    if (title.startsWith('A server')) expect(printed).toMatch(/team\/bob +approve[^]*token\.created/);
    if (title.startsWith('Your own')) expect(printed).toContain('TASK_STATE_INPUT_REQUIRED');
  },
);
