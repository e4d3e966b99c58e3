/** Runs the shell blocks of the documents as a person would, in a home directory of their own. */
import { expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { CODE, INSTALLS, PROGRAMS, readBlocks } from '../support/shell-blocks.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

// This limit is for a busy machine. No test waits for it.
jest.setTimeout(120_000);

/** What a reader has done before a section. */
const BEFORE: Readonly<Record<string, string>> = {
  // There the MCP client delegates the task.
  'README.md: First task': 'mcp-a2a-bridge run --detach "Create test.md with hello"',
  'docs/access.md: The audit log': 'a2a-server token create --name ann',
};

/** What the commands of a section print in the end. */
const PRINTED: Readonly<Record<string, RegExp>> = {
  'README.md: Install': /"a2a-bridge"[^]*Written to/,
  'README.md: First task': /Create test\.md with hello[^]*\+hello[^]*Approved/,
  'docs/access.md: The audit log': /token\.created[^]*"token\.created"/,
  'docs/guides.md: Delegate from a terminal': /hello$/,
  'docs/guides.md: Several agents': /here \(default\)[^]*approvals +yes/,
  'docs/guides.md: A server for a team': /team\/bob +approve[^]*token\.created/,
  'docs/guides.md: Your own A2A client': /TASK_STATE_INPUT_REQUIRED/,
};

const sections = new Map<string, string[]>();
for (const { page, section, commands, notRun } of readBlocks()) {
  const name = `${page}: ${section}`;
  if (notRun === undefined) sections.set(name, [...(sections.get(name) ?? []), commands]);
}

/** Starts the build as npx starts the published package. */
const NPX = `#!/bin/sh
case "$1 $2 $3" in
  '-y mcp-a2a-bridge '*) shift; exec "$@" ;;
  '-y -p mcp-a2a-bridge') shift 3; exec "$@" ;;
esac
exit 64
`;

/** Makes a home with both programs in the path, and the build in the working directory, as in a clone. */
async function newHome(): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'bin'));
  await mkdir(join(directory, 'work'));
  await symlink(resolve('dist'), join(directory, 'work', 'dist'));
  const starts = Object.entries(PROGRAMS).map(
    ([name, script]) => [name, `#!/bin/sh\nexec '${process.execPath}' '${resolve(script)}' "$@"\n`] as const,
  );
  for (const [name, text] of [...starts, ['npx', NPX] as const]) {
    await writeFile(join(directory, 'bin', name), text);
    await chmod(join(directory, 'bin', name), 0o755);
  }
  return directory;
}

/** @throws with the output of the commands, if one of them fails */
async function run(directory: string, commands: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', commands], {
    cwd: join(directory, 'work'),
    env: { HOME: directory, PATH: `${join(directory, 'bin')}:${process.env['PATH']}` },
  });
  return stdout;
}

/** Puts the code that the commands before have printed in the place of the example. */
async function withCode(directory: string, commands: string): Promise<string> {
  const at = commands.indexOf(CODE);
  if (at === -1) return run(directory, commands);
  const line = commands.lastIndexOf('\n', at);
  const before = await run(directory, commands.slice(0, line));
  const code = /code ([0-9a-f]{8})/.exec(before)?.[1] ?? '';
  return before + (await run(directory, commands.slice(line).replaceAll(CODE, code)));
}

test.each([...sections])('the commands of %s work', async (name, blocks) => {
  const home = await newHome();
  let printed = '';
  try {
    await run(home, BEFORE[name] ?? '');
    for (const commands of blocks) printed += await withCode(home, commands.replaceAll(INSTALLS, '#'));
  } finally {
    await run(home, 'mcp-a2a-bridge server stop');
  }
  expect(printed).toMatch(PRINTED[name] ?? /./);
});

test('each expectation is about a section', () => {
  expect([...Object.keys(BEFORE), ...Object.keys(PRINTED)].filter((name) => !sections.has(name))).toEqual([]);
});
