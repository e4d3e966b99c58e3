/** Tests the first minutes of a person: no model, the command that sets one, and the first finished task. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { ScriptedTurn } from '../../support/fake-model-wires.ts';
import { UNUSED_URL } from '../../support/fake-local-models.ts';
import { modelEndpoint } from '../../support/model-stage.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, PROGRAM } from './support/cli.ts';

const KEY = '0f9e8d7c6b5a49382716050403020100';
const ABSENT = { ollama: UNUSED_URL, lmstudio: UNUSED_URL, llamacpp: UNUSED_URL, vllm: UNUSED_URL };

const waiting = z.object({
  sessionId: z.string(),
  pending: z.tuple([z.object({ callId: z.string(), title: z.string(), shown: z.string() })]),
});

const turn = (scripted: Partial<ScriptedTurn>) => ({ type: 'turn' as const, turn: scripted });

describe('the first minutes', () => {
  const cleanUps: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
  });

  /** Starts an MCP client whose environment has no key. */
  async function startClient() {
    const home = await temporaryDirectory();
    const stateDir = join(home, 'state');
    const endpoint = await modelEndpoint();
    await mkdir(stateDir, { mode: 0o700 });
    const baseUrls = { ...ABSENT, anthropic: endpoint.url };
    await writeFile(join(stateDir, 'config.json'), JSON.stringify({ server: { baseUrls } }));
    cleanUps.push(() => cli(['server', 'stop', '--state-dir', stateDir], { home }));

    const client = new Client({ name: 'test', version: '1' });
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, A2A_SERVER_PORT: '0' };
    const args = [PROGRAM, '--state-dir', stateDir, '--log-level', 'error'];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env, cwd: home }));
    cleanUps.push(() => client.close());
    const delegate = async (): Promise<{ text: string; structured: unknown; isError: boolean }> => {
      const task = 'Greet the world in test.md';
      const {
        content,
        structuredContent,
        isError = false,
      } = await client.callTool({
        name: 'delegate_task_to_assistant',
        arguments: { task, workspace: home },
      });
      return { text: JSON.stringify(content), structured: structuredContent, isError };
    };
    return { home, stateDir, endpoint, client, delegate };
  }

  it('the first task is rejected and names a command; after that command, the same MCP client delegates, approves and gets its result', async () => {
    const { home, endpoint, client, delegate } = await startClient();
    const { text: rejected } = await delegate();
    expect(rejected).toMatch(/rejected the task: No model is configured/);
    const [command] = /node \S+main\.js [^"\n]*? ?model set anthropic:[\w-]*\w/.exec(rejected) ?? [];
    if (command === undefined) throw new Error(`no command is named: ${rejected}`);
    endpoint.script(turn({ text: ['ready'] }));
    const set = await promisify(execFile)('sh', ['-c', command], {
      env: { PATH: process.env['PATH'], HOME: home, ANTHROPIC_API_KEY: KEY },
    });
    expect(set.stdout).toMatch(/✓ anthropic:\S+ answers/);

    const input = JSON.stringify({ path: 'test.md', content: 'hello' });
    endpoint.script(
      turn({ calls: [{ id: 'toolu_1', name: 'write-file', arguments: input }] }),
      turn({ text: ['I wrote the greeting.'] }),
    );
    const { sessionId, pending } = waiting.parse((await delegate()).structured);
    const decided = await client.callTool({
      name: 'approve_or_deny_pending_action',
      arguments: { sessionId, decision: 'approve', ...pending[0] },
    });
    expect(JSON.stringify(decided.content)).toContain('I wrote the greeting.');
    expect(await readFile(join(home, 'test.md'), 'utf8')).toBe('hello');
    expect(endpoint.received.map(({ headers }) => headers['x-api-key'])).toEqual([KEY, KEY, KEY]);
  });

  it('after a restart of the machine without the key in its environment, the MCP client says which key is missing and what to do', async () => {
    const { home, stateDir, endpoint, delegate } = await startClient();
    const at = { home, env: { ANTHROPIC_API_KEY: KEY, A2A_SERVER_PORT: '0' } };
    endpoint.script(turn({ text: ['ready'] }));
    const set = ['model', 'set', 'anthropic:claude-sonnet-4-5', '--state-dir', stateDir];
    expect((await cli(set, at)).code).toBe(0);
    expect((await cli(['server', 'start', '--state-dir', stateDir], at)).code).toBe(0);
    endpoint.script(turn({ text: ['Hello.'] }));
    expect((await delegate()).structured).toMatchObject({ state: 'completed' });
    await cli(['server', 'stop', '--state-dir', stateDir], { home });

    // Only the shell of `server start` had the key. The MCP client starts the next server.
    const { text, isError } = await delegate();
    expect(isError).toBe(true);
    expect(text).toMatch(
      /needs a key: set ANTHROPIC_API_KEY in the environment of the program that starts the server/,
    );
    expect(text).toMatch(/model set anthropic:claude-sonnet-4-5 --key-command/);
    expect(text).not.toContain(KEY);

    // A command that prints the key works in each environment.
    const command = `printf %s ${KEY}`;
    await writeFile(join(home, 'key.sh'), command);
    endpoint.script(turn({ text: ['ready'] }));
    const again = await cli([...set, '--key-command', `sh ${join(home, 'key.sh')}`], { home });
    expect(again.code).toBe(0);
    endpoint.script(turn({ text: ['Hello again.'] }));
    expect((await delegate()).structured).toMatchObject({ state: 'completed', output: 'Hello again.' });
  });
});
