/** Tests the script of Claude Code's hooks, and the files that running bridges write for it. */
import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { stateDirectory as stateDirectoryOf } from '../../../shared/state/state-directory.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { untilFileContains } from '../../support/file-watch.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { DELEGATE, LIST, startAgent, startClient, stateDirectory, WAIT } from './support/bridge-stage.ts';
import type { RawClient } from './support/raw-client.ts';

const SCRIPT = resolve('scripts/client-packages/claude-code/hooks/notices.sh');

interface Hook {
  stateDir: string;
  directory: string;
}

interface HookInput {
  session?: string;
  prompt?: string;
  env?: Readonly<Record<string, string>>;
}

/** Runs the hook as Claude Code does. @returns what it prints, which Claude Code gives to the model */
async function hook(
  mode: 'start' | 'prompt' | 'status',
  { stateDir, directory }: Hook,
  { session = 'session-a', prompt = 'Go on.', env = {} }: HookInput = {},
): Promise<string> {
  const child = spawn('sh', [SCRIPT, mode], {
    cwd: '/',
    env: {
      PATH: process.env['PATH'],
      HOME: stateDir,
      MCP_A2A_BRIDGE_HOME: stateDir,
      CLAUDE_PROJECT_DIR: directory,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const input = { session_id: session, cwd: directory, hook_event_name: 'UserPromptSubmit', prompt };
  child.stdin.on('error', () => undefined); // The script may end without reading.
  child.stdin.end(JSON.stringify(input));
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(code).toBe(0);
  return printed;
}

/** Resolves when the file of this client's bridge contains the text. */
function noticed(client: RawClient, { stateDir, directory }: Hook, part: string): Promise<string> {
  return untilFileContains(join(stateDir, 'notices', directory, `notices.${client.process.pid}`), part);
}

async function place(): Promise<Hook> {
  const at = { stateDir: await stateDirectory(), directory: await temporaryDirectory() };
  // The first hook of a directory creates the place for the files.
  expect(await hook('start', at)).toBe('');
  return at;
}

const asking = () =>
  startAgent({
    onMessage: (task, words) => {
      if (words.includes('ask')) task.work().ask(pendingWrite('one'));
      else task.work();
    },
  });

test('R68 the hooks tell each session once what has finished and what waits in its directory', async () => {
  const at = await place();
  const agent = await asking();
  const client = await startClient(agent, { stateDir: at.stateDir, args: ['--workspace', at.directory] });
  await client.call(DELEGATE, { task: 'ask "me"', waitSeconds: 0 });
  await noticed(client, at, '1 action waits');
  const waiting = /\n- Session \S+ \(agent\) "ask "me"": 1 action waits for a decision\. wait_for_task shows/;
  expect(await hook('prompt', at)).toMatch(waiting);
  expect(await hook('prompt', at)).toBe('');
  expect(await hook('prompt', at, { session: 'session-b' })).toMatch(waiting);
  expect(await hook('status', at)).toBe('1 wait\n');

  await client.call(DELEGATE, { task: 'work on', waitSeconds: 0 });
  await noticed(client, at, 'counts 1 1 0');
  expect(await hook('status', at)).toBe('1 wait · 1 runs\n');
  expect(await hook('prompt', at)).toBe('');
  agent.tasks.get('task-2')?.say('done').complete();
  await noticed(client, at, 'counts 1 0 1');
  const prompt = 'What is "session_id": "session-b"?';
  expect(await hook('prompt', at, { prompt })).toMatch(
    /^[^\n]+\n- Session \S+ \(agent\) "work on": completed\./,
  );
  expect(await hook('prompt', at)).toBe('');
  // After a start, a compaction or a clear, the model knows nothing.
  expect((await hook('start', at)).split('\n')).toHaveLength(4);

  const elsewhere = { ...at, directory: await temporaryDirectory() };
  expect(await hook('prompt', elsewhere)).toBe('');
  expect(await hook('status', elsewhere)).toBe('');
});

test('a collected result is not told, and the files of an ended bridge are not used', async () => {
  const at = await place();
  const agent = await asking();
  const args = ['--workspace', at.directory];
  const client = await startClient(agent, { stateDir: at.stateDir, args });
  await client.call(DELEGATE, { task: 'walk away', waitSeconds: 0 });
  agent.task.say('done').complete();
  await noticed(client, at, 'completed.');
  await client.call(WAIT, { sessionId: 'session-1' });
  await client.call(LIST, {}); // This call confirms that the client has the reply.
  await noticed(client, at, 'counts 0 0 0');
  expect(await hook('start', at)).toBe('');

  await client.call(DELEGATE, { task: 'ask me', waitSeconds: 0 });
  await noticed(client, at, '1 action waits');
  // A person may decide elsewhere, without a call of this client.
  agent.tasks.get('task-2')?.work();
  await noticed(client, at, 'counts 0 1 0');
  agent.tasks.get('task-2')?.ask(pendingWrite('one'));
  await noticed(client, at, '1 action waits');
  await client.kill();
  expect(await hook('prompt', at)).toBe('');
  expect(await hook('status', at)).toBe('');
  // The next bridge takes over the delegation, and removes the file of the killed one.
  const next = await startClient(agent, { stateDir: at.stateDir, args });
  await noticed(next, at, '1 action waits');
  expect(await hook('prompt', at)).toMatch(/1 action waits/);
  const files = await readdir(join(at.stateDir, 'notices', at.directory));
  expect(files.filter((name) => name.startsWith('notices.'))).toEqual([`notices.${next.process.pid}`]);
  expect(await next.close()).toBe(0);
  expect(await readdir(join(at.stateDir, 'notices', at.directory))).toEqual(['told.session-a']);
});

test('without a hook, a bridge writes no notices', async () => {
  const stateDir = await stateDirectory();
  const directory = await temporaryDirectory();
  const client = await startClient(await asking(), { stateDir, args: ['--workspace', directory] });
  await client.call(DELEGATE, { task: 'ask me', waitSeconds: 0 });
  await client.call(LIST, {});
  expect(existsSync(join(stateDir, 'notices'))).toBe(false);
});

test('the script finds the same state directory as the programs, and refuses a session id that is a path', async () => {
  const home = await temporaryDirectory();
  for (const XDG_STATE_HOME of ['', 'relative', join(home, 'state')]) {
    const env = { HOME: home, MCP_A2A_BRIDGE_HOME: '', XDG_STATE_HOME };
    const found = stateDirectoryOf({ env, platform: 'linux', home });
    await mkdir(found, { recursive: true });
    const at = { stateDir: home, directory: home };
    await hook('start', at, { env, session: '../../told' });
    await hook('start', at, { env, session: 'good-1' });
    expect(await readdir(join(found, 'notices', home))).toEqual(['told.good-1']);
    // The path for a status line does not change when the plugin is updated.
    expect(existsSync(join(found, 'notices.sh'))).toBe(true);
  }
  await writeFile(join(home, 'file'), '');
  expect(await hook('prompt', { stateDir: join(home, 'missing'), directory: home })).toBe('');
  expect(existsSync(join(home, 'missing'))).toBe(false);
});
