import { expect, test } from '@jest/globals';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NotOnPathNote } from '../../../../../bridge/cli/terminal/not-on-path-note.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const paths = {
  bridgeScript: '/home/ada/clone/dist/bridge/main.js',
  serverScript: '/home/ada/clone/dist/a2a-server/main.js',
};
type Place = Parameters<NotOnPathNote['text']>[0];
const inClone: Place = { paths, cwd: '/home/ada/clone', path: '/nowhere', options: {} };

function noteOf(output: string, place: Partial<Place> = {}): string | undefined {
  const note = new NotOnPathNote();
  note.recordHints('Nothing waits.');
  note.recordHints(output);
  return note.text({ ...inClone, ...place });
}

test.each([
  ['Follow it with: mcp-a2a-bridge watch 4f2a', 'Here, mcp-a2a-bridge is: node dist/bridge/main.js'],
  ['Run `a2a-server passkey add` there.', 'Here, a2a-server is: node dist/a2a-server/main.js'],
  [
    '`a2a-server token list` lists them. "mcp-a2a-bridge tasks" too.',
    'Here, mcp-a2a-bridge is: node dist/bridge/main.js\nHere, a2a-server is: node dist/a2a-server/main.js',
  ],
  ['(mcp-a2a-bridge --help lists the commands)', 'Here, mcp-a2a-bridge is: node dist/bridge/main.js'],
  ['mcp-a2a-bridge: no such session', undefined],
  ['agent: mcp-a2a-bridge agent 0.1.0', undefined],
  ['an a2a-server of an older version runs', undefined],
  ['Nothing waits.', undefined],
])('%s', (output, note) => {
  expect(noteOf(output)).toBe(note);
});

test('outside of the clone the path is absolute, and quoted for the shell', () => {
  const note = (bridgeScript: string): string | undefined =>
    noteOf('mcp-a2a-bridge tasks', { cwd: '/tmp', paths: { ...paths, bridgeScript } });
  expect(note(paths.bridgeScript)).toMatch(/node \/home\/ada\/clone\/dist\/bridge\/main\.js$/);
  expect(note("/home/ada's clone/main.js")).toMatch(/node '\/home\/ada'\\''s clone\/main\.js'$/);
});

test('a command that the person can type needs no note', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'mcp-a2a-bridge');
  await writeFile(file, '#!/bin/sh\n', { mode: 0o644 });
  expect(noteOf('mcp-a2a-bridge tasks', { path: `/nowhere:${directory}` })).toBeDefined();
  await chmod(file, 0o755);
  expect(noteOf('mcp-a2a-bridge tasks', { path: `/nowhere:${directory}` })).toBeUndefined();
  expect(noteOf('mcp-a2a-bridge tasks', { path: undefined })).toBeDefined();
});

test('the note repeats the flags that name the settings, also if the person can type the name', async () => {
  const options = { stateDir: 'my state', config: 'c.json', agentUrl: 'http://127.0.0.1:1', json: false };
  expect(noteOf('mcp-a2a-bridge tasks, `a2a-server token list`', { options })).toBe(
    "Here, mcp-a2a-bridge is: node dist/bridge/main.js --state-dir 'my state' --config c.json --agent-url http://127.0.0.1:1\n" +
      "Here, a2a-server is: node dist/a2a-server/main.js --state-dir 'my state' --config c.json",
  );
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'mcp-a2a-bridge'), '#!/bin/sh\n', { mode: 0o755 });
  expect(noteOf('mcp-a2a-bridge tasks', { path: directory, options: { stateDir: '/s' } })).toBe(
    'Here, mcp-a2a-bridge is: mcp-a2a-bridge --state-dir /s',
  );
});

test('a directory that npx adds for one run does not count', async () => {
  const directory = join(await temporaryDirectory(), '_npx');
  await mkdir(directory);
  await writeFile(join(directory, 'mcp-a2a-bridge'), '#!/bin/sh\n', { mode: 0o755 });
  expect(noteOf('mcp-a2a-bridge tasks', { path: directory })).toBeDefined();
});

test('a directory of this name in PATH is no command', async () => {
  const path = await temporaryDirectory();
  await mkdir(join(path, 'mcp-a2a-bridge'));
  expect(noteOf('mcp-a2a-bridge watch 4f2a', { path })).toBe(
    'Here, mcp-a2a-bridge is: node dist/bridge/main.js',
  );
});
