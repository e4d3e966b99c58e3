// Runs both built programs once, and records the bytecode of the code that a start and a first task need.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const RECORDER = resolve(import.meta.dirname, 'write-bytecode.cjs');
/** The time limit of the recording, for a busy machine. */
const LIMIT_MS = 120_000;

/**
 * Writes a `.cache` file beside each file that the programs load.
 * @param build the directory of the built programs
 * @throws if a program does not start, or does not answer
 */
export async function recordCodeCache(build) {
  const home = await mkdtemp(join(tmpdir(), 'code-cache-'));
  const [stateDir, workspace] = [join(home, 'server'), join(home, 'workspace')];
  await mkdir(workspace);
  const running = new AbortController();
  const timer = setTimeout(() => running.abort(new Error(`it took more than ${LIMIT_MS} ms`)), LIMIT_MS);
  const { signal } = running;
  const start = (program, args, env = {}) => {
    const main = resolve(build, program, 'main.js');
    const child = spawn(process.execPath, ['--require', RECORDER, main, '--log-level=error', ...args], {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
      signal,
      killSignal: 'SIGKILL',
    });
    // After an abort, the child emits an error. Without this listener, Node would end the build with that error.
    child.on('error', () => undefined);
    return child;
  };
  try {
    const server = start('a2a-server', ['--port=0', `--state-dir=${stateDir}`, `--workspace=${workspace}`]);
    const url = await Promise.race([addressOf(server), failure(server, 'server')]);
    await (await fetch(new URL('/.well-known/agent-card.json', url), { signal })).json();
    const token = (await readFile(join(stateDir, 'token'), 'utf8')).trim();
    const flags = [`--agent-url=${url}`, `--state-dir=${join(home, 'bridge')}`];
    const env = { MCP_A2A_BRIDGE_AGENT_TOKEN: token };
    // In the files that both load, the bytecode of the bridge replaces the bytecode of the command.
    const command = start('bridge', ['tasks', '--json', ...flags], env);
    await exitOf(command);
    if (command.exitCode !== 0) throw new Error(`the command tasks exited with ${command.exitCode}`);
    const bridge = start('bridge', flags, env);
    await Promise.race([useBridge(bridge), failure(bridge, 'bridge')]);
    bridge.stdin.end();
    await exitOf(bridge);
    server.kill('SIGTERM');
    await exitOf(server);
  } finally {
    clearTimeout(timer);
    running.abort();
    await rm(home, { recursive: true, force: true });
  }
}

/** Resolves when the program has exited. */
async function exitOf(child) {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function addressOf({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    const url = / is ready at (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('the server reported no address');
}

/** Uses the bridge as an MCP client does: delegates a task, and cancels it while it waits for a decision. */
async function useBridge({ stdin, stdout }) {
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  let id = 0;
  const send = (message) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = async (method, params) => {
    id += 1;
    send({ id, method, params });
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the bridge did not answer ${method}`);
      const answer = JSON.parse(value);
      if (answer.id !== id) continue;
      if (answer.result === undefined || answer.result.isError) throw new Error(`${method} failed: ${value}`);
      return answer.result;
    }
  };
  const call = (name, args) => request('tools/call', { name, arguments: args });
  const clientInfo = { name: 'build', version: '0' };
  await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  send({ method: 'notifications/initialized' });
  await request('tools/list', {});
  const { structuredContent } = await call('delegate_task_to_assistant', {
    task: 'Create test.md with hello',
  });
  const { sessionId } = structuredContent;
  await call('check_task_progress_and_status', { sessionId });
  await call('cancel_running_task', { sessionId });
}

/**
 * Rejects when the program exits or fails.
 * @returns {Promise<never>}
 */
async function failure(child, name) {
  const [code, signal] = await once(child, 'exit');
  throw new Error(`the ${name} exited with ${signal ?? code}`);
}
