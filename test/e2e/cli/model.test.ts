/** Tests the command `model`, with real processes and providers that speak the real wire formats. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { errorCode } from '../../../shared/runtime/errors.ts';
import { readServerRecord } from '../../../shared/state/server-record.ts';
import { endLocalServer } from '../../support/end-local-server.ts';
import { localModelServer, modelList, UNUSED_URL, ollamaTags } from '../../support/fake-local-models.ts';
import type { FakeModelEndpoint, Reply } from '../../support/fake-model-endpoint.ts';
import { modelEndpoint } from '../../support/model-stage.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, cliRunning, type Outcome, PROGRAM } from './support/cli.ts';
import { codeShownIn } from './support/cli-stage.ts';

const KEY = 'sk-very-secret-0123456789';
/** Local model programs may really run on this machine. So the test does not look at their usual ports. */
const ABSENT = { ollama: UNUSED_URL, lmstudio: UNUSED_URL, llamacpp: UNUSED_URL, vllm: UNUSED_URL };
const ANSWER: Reply = { type: 'turn', turn: { text: ['ready'] } };

const settings = z.object({ server: z.record(z.string(), z.unknown()) });
const report = z.object({ model: z.string(), server: z.object({ pid: z.number() }).nullable() });

let home: string;
let stateDir: string;
let config: string;
let endpoint: FakeModelEndpoint;

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> =>
  cli([...args, '--state-dir', stateDir], { home, env });
const model = (...args: string[]): Promise<Outcome> => run(['model', ...args]);
const withKey = (...args: string[]): Promise<Outcome> => run(['model', ...args], { ANTHROPIC_API_KEY: KEY });
const server = async (): Promise<Record<string, unknown>> =>
  settings.parse(JSON.parse(await readFile(config, 'utf8'))).server;

/** Returns the text of every file in the state directory. The server may remove its temporary files meanwhile. */
async function everythingStored(): Promise<string> {
  const names = await readdir(stateDir, { recursive: true, withFileTypes: true });
  const files = names.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  const texts = files.map((file) =>
    readFile(file, 'latin1').catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return '';
      throw error;
    }),
  );
  return (await Promise.all(texts)).join('\n');
}

describe('the command model', () => {
  beforeEach(async () => {
    home = await temporaryDirectory();
    stateDir = join(home, 'state');
    config = join(stateDir, 'config.json');
    endpoint = await modelEndpoint();
    await mkdir(stateDir, { mode: 0o700 });
    const baseUrls = { ...ABSENT, anthropic: endpoint.url, openai: endpoint.url, google: endpoint.url };
    await writeFile(
      config,
      `{\n  "server": { "baseUrls": ${JSON.stringify(baseUrls)}, "retention": "9d" }\n}\n`,
    );
  });
  afterEach(() => endLocalServer(stateDir));

  describe('the command model set', () => {
    it.each(['SIGINT', 'SIGTERM'] as const)(
      '%s ends it, and leaves no copy of the settings',
      async (signal) => {
        const before = await readdir(stateDir);
        const args = ['model', 'set', 'anthropic:claude-fake', '--state-dir', stateDir];
        const { child, ended } = cliRunning(args, { home, env: { ANTHROPIC_API_KEY: KEY } });
        const added = async (): Promise<boolean> => (await readdir(stateDir)).length > before.length;
        while (!(await added())) await new Promise(setImmediate);
        child.kill(signal);
        await ended;
        expect(child.signalCode).toBe(signal);
        expect(await readdir(stateDir)).toEqual(before);
      },
    );

    it('model set tries the model with one token, stores no key, and restarts the server; a waiting task continues', async () => {
      const asked = await run(['run', 'create test.md with hello', '--workspace', home]);
      expect(asked.code).toBe(6);
      const before = await readServerRecord(stateDir);

      endpoint.script(ANSWER);
      const set = await withKey('set', 'anthropic:claude-fake');
      expect(set).toMatchObject({ code: 0, stderr: '' });
      expect(set.stdout).toMatch(/✓ anthropic:claude-fake answers[^]*restarted: process \d+ ended/);
      expect(set.stdout).toMatch(/key is in ANTHROPIC_API_KEY[^]*MCP client[^]*--key-command/);
      expect(endpoint.received).toHaveLength(1);
      expect(endpoint.received[0]).toMatchObject({ headers: { 'x-api-key': KEY }, body: { max_tokens: 1 } });

      expect(await server()).toMatchObject({ model: 'anthropic:claude-fake', retention: '9d' });
      expect(await everythingStored()).not.toContain(KEY);
      const after = await readServerRecord(stateDir);
      expect(after?.pid).not.toBe(before?.pid);
      expect(set.stdout).toContain(`process ${String(after?.pid)} runs`);

      endpoint.script({ type: 'turn', turn: { text: ['It is written.'] } });
      const decided = await run(['approve', codeShownIn(asked.stdout)]);
      expect(decided.code).toBe(0);
      const [session = ''] = /session-[0-9a-f-]+/.exec(asked.stdout) ?? [];
      expect((await run(['watch', session])).stdout).toContain('completed');
      expect(await readFile(join(home, 'test.md'), 'utf8')).toBe('hello');
    });

    it('a bridge that runs at the same time, without the key, uses the restarted server', async () => {
      const client = new Client({ name: 'test', version: '1' });
      const [command, args] = [process.execPath, [PROGRAM, '--state-dir', stateDir, '--log-level', 'error']];
      const env = { PATH: process.env['PATH'] ?? '', HOME: home, A2A_SERVER_PORT: '0' };
      await client.connect(new StdioClientTransport({ command, args, env, cwd: home }));
      try {
        const delegate = (task: string) =>
          client.callTool({ name: 'delegate_task_to_assistant', arguments: { task, workspace: home } });
        const rejected = await delegate('What do you see?');
        expect(JSON.stringify(rejected.content)).toContain('rejected the task: No model is configured');
        endpoint.script(ANSWER);
        expect((await withKey('set', 'anthropic:claude-fake')).code).toBe(0);
        endpoint.script({ type: 'turn', turn: { text: ['A directory.'] } });
        expect(JSON.stringify(await delegate('What do you see now?'))).toContain('A directory.');
      } finally {
        await client.close();
      }
    });

    it('after a failed trial the file and the server stay unchanged, and the error contains the next step', async () => {
      await run(['server', 'start']);
      const [before, text] = [await readServerRecord(stateDir), await readFile(config, 'utf8')];

      endpoint.script({ type: 'status', status: 401 });
      const refused = await withKey('set', 'anthropic:claude-fake');
      expect(refused.code).toBe(78);
      expect(refused.stderr).toMatch(
        /Nothing was changed: .*refused the key \(401\)\. Check ANTHROPIC_API_KEY/,
      );
      expect(refused.stderr).not.toContain(KEY);

      const error = { type: 'not_found_error', message: 'model: claude-sonet-4-5' };
      endpoint.script({ type: 'status', status: 404, body: { type: 'error', error } });
      const unknown = await withKey('set', 'anthropic:claude-sonet-4-5');
      expect(unknown.stderr).toMatch(
        /\(404\): model: claude-sonet-4-5.*Did you mean anthropic:claude-sonnet-4-5/,
      );

      const missing = await model('set', 'anthropic:claude-fake');
      expect(missing.code).toBe(78);
      expect(missing.stderr).toMatch(/set ANTHROPIC_API_KEY.*--key-command "<command>"/);

      const noCommand = await model('set', 'openai:gpt-4o', '--key-command', '/no/such/program');
      expect(noCommand.stderr).toMatch(/Nothing was changed: the key command was not found/);
      const inClear = await model('set', 'openai:gpt-4o', '--key-command', `echo ${KEY}`);
      expect(inClear.stderr).toMatch(/would contain the key as plain text/);
      expect(inClear.stderr).not.toContain(KEY);

      endpoint.script({ type: 'status', status: 401 });
      const asJson = await withKey('set', 'anthropic:claude-fake', '--json');
      expect(JSON.parse(asJson.stdout)).toMatchObject({ error: { reason: 'CONFIGURATION' } });
      expect(asJson.code).toBe(78);

      expect(await readFile(config, 'utf8')).toBe(text);
      expect(await readServerRecord(stateDir)).toEqual(before);
      expect((await readdir(stateDir)).filter((name) => name.startsWith('candidate'))).toEqual([]);
    });

    it('with a key command, a server without the variable works', async () => {
      const file = join(home, 'key');
      await writeFile(file, `${KEY}\nuser: ada\n`);
      endpoint.script(ANSWER);
      const set = await model('set', 'anthropic:claude-fake', '--key-command', `cat '${file}'`);
      expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining('The next task starts one') });
      expect(set.stdout).not.toContain('The key is in');
      expect(await server()).toMatchObject({ keys: { anthropic: { command: ['cat', file] } } });

      endpoint.script({ type: 'turn', turn: { text: ['The answer of the model.'] } });
      const ran = await run(['run', 'What do you see?', '--workspace', home]);
      expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('The answer of the model.') });
      expect(endpoint.received.at(-1)?.headers).toMatchObject({ 'x-api-key': KEY });
      expect(await everythingStored()).not.toContain(KEY);

      // The new variable replaces the command, because a model's entry has either a variable or a command.
      endpoint.script(ANSWER);
      const again = await run(['model', 'set', 'anthropic:claude-fake', '--key-variable', 'MINE'], {
        MINE: KEY,
      });
      expect(again.code).toBe(0);
      expect(await server()).toMatchObject({ keys: { anthropic: { env: 'MINE' } } });
    });

    it.each([
      ['openai:gpt-4o', 'OPENAI_API_KEY', []],
      ['google:gemini-fake', 'GEMINI_API_KEY', []],
      ['openai-compatible:m', 'MCP_A2A_OPENAI_COMPATIBLE_API_KEY', ['--base-url']],
    ])('model set works with %s', async (id, variable, flags) => {
      endpoint.script(ANSWER);
      const args = ['model', 'set', id, '--json', ...flags.flatMap((flag) => [flag, endpoint.url])];
      const set = await run(args, { [variable]: KEY });
      expect(set).toMatchObject({ code: 0, stderr: '' });
      expect(report.parse(JSON.parse(set.stdout))).toEqual({ model: id, server: null });
      expect(await server()).toMatchObject({ model: id });
      const shown = await run(['model'], { [variable]: KEY });
      expect(shown.stdout).toContain(`${variable}, which is set in this terminal`);
    });

    it('model set --no-try sends nothing; if the key is missing in this shell, a running server stays unchanged', async () => {
      await run(['server', 'start']);
      const before = await readServerRecord(stateDir);
      const set = await model('set', 'anthropic:claude-fake', '--no-try', '--tier', 'smart');
      expect(set).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('ANTHROPIC_API_KEY is not set here'),
      });
      expect(await server()).toMatchObject({ smartModel: 'anthropic:claude-fake' });
      expect(await readServerRecord(stateDir)).toEqual(before);
      expect(endpoint.received).toEqual([]);
    });

    it.each<[string, string[], Readonly<Record<string, string>>, number, RegExp]>([
      ['a name without its provider', ['gpt-4o-mini'], {}, 2, /Did you mean openai:gpt-4o-mini/],
      [
        'a part of many names',
        ['claude'],
        {},
        2,
        /\d+ models contain "claude"\. To list them: mcp-a2a-bridge model list claude$/m,
      ],
      ['a name that is also a part of others', ['gpt-5'], {}, 2, /Did you mean openai:gpt-5\b/],
      ['a misspelt name', ['claude-sonet-4-5'], {}, 2, /Did you mean anthropic:claude-sonnet-4-5/],
      [
        'an unknown provider',
        ['nobody:m'],
        {},
        78,
        /Nothing was changed\. With the new model: .*providers anthropic/,
      ],
      [
        'a variable that overrides the file',
        ['offline'],
        { A2A_SERVER_MODEL: 'ollama:m' },
        78,
        /A2A_SERVER_MODEL/,
      ],
      ['another kind of agent', ['offline'], { A2A_SERVER_AGENT: 'acp,gemini' }, 78, /setting "agent"/],
    ])('model set refuses %s, and changes nothing', async (_, args, env, code, says) => {
      const text = await readFile(config, 'utf8');
      const { stderr, ...end } = await run(['model', 'set', ...args], env);
      expect(stderr).toMatch(says);
      expect(end.code).toBe(code);
      expect(await readFile(config, 'utf8')).toBe(text);
    });
  });

  describe('the command model without "set"', () => {
    it('model shows the models in use (tiers, source, key, window and price), and a server with another model', async () => {
      await run(['server', 'start']);
      const { server: before } = settings.parse(JSON.parse(await readFile(config, 'utf8')));
      const { baseUrls: _, ...rest } = before;
      const models = { model: 'anthropic:claude-sonnet-4-5', fastModel: 'vllm:own' };
      await writeFile(config, JSON.stringify({ server: { ...rest, ...models, baseUrls: ABSENT } }));
      const { stdout, code } = await withKey();
      expect(code).toBe(0);
      expect(stdout).toMatch(/anthropic:claude-sonnet-4-5 {2}\(default, smart\)/);
      expect(stdout).toContain(config);
      expect(stdout).toMatch(/200,000 tokens\n.*\$3 input \(\$0\.3 from the cache\), \$15 output/);
      expect(stdout).toMatch(/vllm:own {2}\(fast\)[^]*none needed[^]*unknown/);
      expect(stdout).toContain('The running server uses offline');
      expect(stdout).not.toContain(KEY);
      expect(JSON.parse((await withKey('--json')).stdout)).toMatchObject({
        agent: 'anthropic:claude-sonnet-4-5',
        running: 'offline',
        uses: [{ use: 'default' }, { use: 'fast', key: { type: 'variable', set: false } }, { use: 'smart' }],
      });
    });

    it('model list shows known models, and the models of programs on this machine', async () => {
      const ollama = await localModelServer({ '/api/tags': ollamaTags('qwen3:8b') });
      const lmstudio = await localModelServer({ '/v1/models': modelList('lm/qwen') });
      const baseUrls = { ...ABSENT, ollama: ollama.url, lmstudio: lmstudio.url };
      await writeFile(config, JSON.stringify({ server: { baseUrls } }));
      const { stdout } = await model('list', 'qwen');
      expect(stdout).toMatch(/ollama:qwen3:8b[^]*lmstudio:lm\/qwen/);
      expect(stdout).not.toContain('claude');
      const all = z
        .object({ known: z.array(z.object({ id: z.string() })), local: z.array(z.unknown()) })
        .parse(JSON.parse((await model('list', '--json')).stdout));
      expect(all.known.map(({ id }) => id)).toContain('anthropic:claude-sonnet-4-5');
      expect(all.local).toHaveLength(2);
      expect((await model('bogus')).code).toBe(2);
      expect((await model('list', 'nothing', 'like it')).stdout).toContain(
        'No known model has "nothing" and "like it" in its id.',
      );
      const short = (await model('list')).stdout;
      expect(short).toMatch(/\n\d{3} more from OpenRouter: mcp-a2a-bridge model list openrouter\n/);
      expect(short).not.toContain('openrouter:anthropic/');
      expect((await model('list', 'openrouter', 'sonnet-4.5')).stdout).toMatch(
        /1,000,000 +3 +15 +openrouter:anthropic\/claude-sonnet-4\.5/,
      );
    });

    it('without a model, the end of a task names a command that works', async () => {
      const { stdout } = await run(['run', 'say hi']);
      const said = stdout.replaceAll(/\n↳ /g, ' ');
      expect(said).toMatch(
        /To choose a model, run in a terminal: node \S+main\.js .*model set <provider>:<model>/,
      );
      expect(said).toContain(`--state-dir ${stateDir}`);
    });

    it('without a model, the first task is "rejected", and the reason names a command that works', async () => {
      const ollama = await localModelServer({ '/api/tags': ollamaTags('qwen3:8b') });
      await writeFile(config, JSON.stringify({ server: { baseUrls: { ...ABSENT, ollama: ollama.url } } }));
      const { stdout, stderr, code } = await run(['run', 'Fix the failing test']);
      const said = stdout + stderr;
      expect(code).toBe(5);
      expect(said).toMatch(
        /rejected\n│ No model is configured, so the agent does not understand this message/,
      );
      const [, command = ''] =
        /run in a terminal: (node \S+main\.js .*) model set ollama:qwen3:8b\./.exec(said) ?? [];
      expect(command).toContain(`--state-dir ${stateDir}`);
    });
  });
});
