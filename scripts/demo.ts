/**
 * Demonstrates and checks the main workflow. It delegates a task, shows the pending action, kills and restarts the
 * server, approves, and finds the file written once. Then it denies a second task, which writes nothing. It uses the
 * real server, bridge and an MCP client, without key or network. Exit code 0 means every step passed.
 *
 * `node scripts/run.mjs scripts/demo.ts [directory]`: the directory of the package; by default, this checkout
 * with a fresh build.
 */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';
import { z } from 'zod';
import buildIfChanged from './build-if-changed.ts';

/** The fields of a tool's structured result that the demo reads. */
const sessionResult = z.object({
  sessionId: z.string(),
  state: z.string(),
  output: z.string(),
  pending: z.array(
    z.object({ callId: z.string(), shown: z.string(), title: z.string(), preview: z.string() }),
  ),
  calls: z.array(z.object({ tool: z.string(), state: z.string() })).default([]),
});
const statusResult = z.object({ pending: z.array(z.object({ callId: z.string() })) });

const [installed] = process.argv.slice(2);
const root = installed ?? '.';
const plain = !process.stdout.isTTY;
const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
  plain ? text : styleText(style, text);
let steps = 0;

function step(what: string): void {
  steps += 1;
  console.log(`\n${paint('bold', `${steps}. ${what}`)}`);
}

function show(text: string): void {
  for (const line of text.trimEnd().split('\n')) {
    const style = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'gray';
    console.log(`     ${paint(style, line)}`);
  }
}

/** @throws Error that ends the demo with exit code 1. */
function check(what: string, holds: boolean): void {
  console.log(`   ${holds ? paint('green', '✓') : paint('red', '✗')} ${what}`);
  if (!holds) throw new Error(`This did not hold: ${what}`);
}

interface StartedServer {
  process: ChildProcess;
  port: number;
}

/** Starts the server and waits until it is ready. With the port 0, the server chooses one. */
async function startServer(stateDir: string, port: number): Promise<StartedServer> {
  const child = spawn(
    process.execPath,
    [
      join(root, 'dist/a2a-server/main.js'),
      '--state-dir',
      stateDir,
      '--port',
      String(port),
      '--model',
      'offline',
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const said: string[] = [];
  const ready = new Promise<number>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        said.push(line);
        const url = / is ready at (http:\S+)/.exec(line)?.[1];
        if (url !== undefined) resolve(Number(new URL(url).port));
      });
    child.once('exit', (code) => reject(new Error(`The server ended (${code}):\n${said.join('\n')}`)));
  });
  return { process: child, port: await ready };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function main(): Promise<void> {
  if (installed === undefined) await buildIfChanged();
  const stateDir = await mkdtemp(join(tmpdir(), 'mcp-a2a-bridge-demo-state-'));
  const workspace = await mkdtemp(join(tmpdir(), 'mcp-a2a-bridge-demo-work-'));
  let server: ChildProcess | undefined;
  const client = new Client({ name: 'demo', version: '1' });
  const call = async <T>(name: string, args: Record<string, unknown>, schema: z.ZodType<T>): Promise<T> => {
    const result = await client.callTool({ name, arguments: args });
    if (result.isError === true) throw new Error(`${name} failed: ${JSON.stringify(result.content)}`);
    return schema.parse(result.structuredContent);
  };
  try {
    step('Start the A2A server, and the bridge as a child of an MCP client');
    const started = await startServer(stateDir, 0);
    server = started.process;
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [
          join(root, 'dist/bridge/main.js'),
          '--state-dir',
          stateDir,
          '--allow-workspace',
          workspace,
          '--no-auto-start',
          '--log-level',
          'error',
        ],
        stderr: 'inherit',
      }),
    );
    const { tools } = await client.listTools();
    check(`the bridge offers ${tools.length} tools over stdio`, tools.length > 0);

    step('Delegate: "Create test.md with hello"');
    const asked = await call(
      'delegate_task_to_assistant',
      { task: 'Create test.md with hello', workspace },
      sessionResult,
    );
    const [pending] = asked.pending;
    check('the task waits for a decision', asked.state === 'input_required' && pending !== undefined);
    if (pending === undefined) return;
    console.log(`   ${pending.title} (${pending.callId}):`);
    show(pending.preview);
    check('nothing has been written', !existsSync(join(workspace, 'test.md')));

    step('The stream is closed. Kill the server with SIGKILL, and start it again');
    await kill(server);
    check(`process ${server.pid} is gone`, server.signalCode === 'SIGKILL');
    server = (await startServer(stateDir, started.port)).process;
    const found = await call('check_task_progress_and_status', { sessionId: asked.sessionId }, statusResult);
    check(
      'the next process knows the task, and it still waits for the same decision',
      found.pending[0]?.callId === pending.callId,
    );
    check('nothing has been written', !existsSync(join(workspace, 'test.md')));

    step('Approve');
    const done = await call(
      'approve_or_deny_pending_action',
      {
        sessionId: asked.sessionId,
        callId: pending.callId,
        shown: pending.shown,
        decision: 'approve',
      },
      sessionResult,
    );
    console.log(`   The agent says: ${done.output.trim().split('\n').at(-1)}`);
    check('the task has completed', done.state === 'completed');
    check('test.md says "hello"', (await readFile(join(workspace, 'test.md'), 'utf8')) === 'hello');
    const writes = done.calls.filter(({ tool }) => tool === 'write-file');
    check('the tool ran exactly once', writes.length === 1 && writes[0]?.state === 'ok');

    step('A second task: "Create other.md with bye". Deny it');
    const second = await call(
      'delegate_task_to_assistant',
      { task: 'Create other.md with bye', workspace },
      sessionResult,
    );
    const [refused] = second.pending;
    check('the task waits for a decision', refused !== undefined);
    const denied = await call(
      'approve_or_deny_pending_action',
      {
        sessionId: second.sessionId,
        callId: refused?.callId,
        shown: refused?.shown,
        decision: 'deny',
        reason: 'not today',
      },
      sessionResult,
    );
    console.log(`   The agent says: ${denied.output.trim().split('\n').at(-1)}`);
    check('the task has come to its end', denied.state === 'completed');
    check('other.md does not exist', !existsSync(join(workspace, 'other.md')));
    console.log(`\n${paint('green', 'Every step held.')} Next:`);
    console.log(
      '  node dist/bridge/main.js model set anthropic:claude-sonnet-4-5   # or openai:…, google:…, ollama:…',
    );
    console.log(
      '  node dist/bridge/main.js install claude                          # or gemini, codex, cursor, vscode',
    );
    console.log('  Then restart the client, and ask it: Delegate "Explain this project" to the assistant.');
  } finally {
    await client.close();
    if (server !== undefined && server.exitCode === null && server.signalCode === null) await kill(server);
    await rm(stateDir, { recursive: true, force: true });
    await rm(workspace, { recursive: true, force: true });
  }
}

main().catch((error: unknown) => {
  console.error(`\n${paint('red', error instanceof Error ? error.message : String(error))}`);
  process.exitCode = 1;
});
