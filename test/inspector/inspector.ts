/**
 * Drives the bridge with MCP Inspector's command line, an official client that is not the SDK. Each call starts a new
 * bridge, so each bridge must find the tasks of the bridges before. `npm run test:inspector` runs it, with
 * `mcp-inspector` on the path. The Inspector needs a newer Node than the bridge.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { MODEL_TOOL_NAMES } from '../../bridge/tool-names/tool-names.ts';

const run = promisify(execFile);
const BRIDGE = resolve('dist/bridge/main.js');
const A_MINUTE_MS = 60_000;

const listed = z.object({ tools: z.array(z.object({ name: z.string() })) });
const called = z.object({
  structuredContent: z.object({
    sessionId: z.string(),
    state: z.string(),
    pending: z.array(z.object({ callId: z.string(), shown: z.string() })),
  }),
});

/** @throws Error that ends the program with exit code 1 */
function check(what: string, holds: boolean): void {
  process.stdout.write(`${holds ? '✓' : '✗'} ${what}\n`);
  if (!holds) throw new Error(`This did not hold: ${what}`);
}

async function inspected(stateDir: string, ...args: string[]): Promise<unknown> {
  const server = [
    process.execPath,
    BRIDGE,
    '--state-dir',
    stateDir,
    '--allow-workspace',
    home,
    '--log-level',
    'error',
  ];
  const { stdout } = await run('mcp-inspector', ['--cli', ...server, ...args], { timeout: A_MINUTE_MS });
  return JSON.parse(stdout);
}

async function call(stateDir: string, tool: string, given: Readonly<Record<string, string>>) {
  const args = Object.entries(given).flatMap(([name, value]) => ['--tool-arg', `${name}=${value}`]);
  const result = await inspected(stateDir, '--method', 'tools/call', '--tool-name', tool, ...args);
  return called.parse(result).structuredContent;
}

const home = await mkdtemp(join(tmpdir(), 'inspector-'));
const stateDir = join(home, 'state');
try {
  const { tools } = listed.parse(await inspected(stateDir, '--method', 'tools/list'));
  check(
    'it lists every tool',
    MODEL_TOOL_NAMES.every((name) => tools.some((tool) => tool.name === name)),
  );

  const asked = await call(stateDir, 'delegate_task_to_assistant', {
    task: 'Create test.md with hello',
    workspace: home,
  });
  check('a delegation waits for a decision', asked.state === 'input_required' && asked.pending.length === 1);

  const { sessionId } = asked;
  await call(stateDir, 'approve_or_deny_pending_action', {
    sessionId,
    callId: asked.pending[0]?.callId ?? '',
    shown: asked.pending[0]?.shown ?? '',
    decision: 'approve',
  });
  const done = await call(stateDir, 'wait_for_task', { sessionId });
  check('it is approved, and done', done.state === 'completed');
  check('the file is there', (await readFile(join(home, 'test.md'), 'utf8')) === 'hello');
} finally {
  await run(process.execPath, [BRIDGE, 'server', 'stop', '--state-dir', stateDir]).catch(() => undefined);
  await rm(home, { recursive: true, force: true });
}
