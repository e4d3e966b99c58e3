/** Tests a client that disconnects from the bridge. Its tasks continue, or end with `--on-disconnect cancel`. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { McpClient } from '../../../shared/client/index.ts';
import { readFile } from 'node:fs/promises';
import { rowsIn } from '../../support/bridge-database.ts';
import { stage, stageAgain, type Stage } from '../../support/stage.ts';
import {
  CANCEL,
  CHECK,
  DECIDE,
  DELEGATE,
  LIST,
  closing,
  startClient,
  startHttp,
  stateDirectory,
  WAIT,
} from './support/bridge-stage.ts';
import type { HttpBridge } from './support/http-bridge.ts';
import { sessionClient } from './support/http-client.ts';

const ENDING = ['--on-disconnect', 'cancel', '--log-level', 'info'];
const LONG = { task: 'wait 600 seconds', waitSeconds: 0 };

async function running(whole: Stage): Promise<string> {
  const [task] = await whole.peer.list();
  return task?.taskId ?? '';
}

async function ended(whole: Stage, taskId: string): Promise<string> {
  const stream = await whole.peer.follow(taskId, 0);
  await stream.until((event) => event.state === 'CANCELED');
  return (await whole.peer.task(taskId)).statusText;
}

/** Starts a client over HTTP that delegates a task and waits for it. Resolves when the task runs a tool. */
async function waits(bridge: Pick<HttpBridge, 'url' | 'credentials'>): Promise<void> {
  const client = closing(await sessionClient(bridge));
  await new Promise<void>((resolve) => {
    const onprogress = (message: string): void => {
      if (message.includes(' runs: ')) resolve();
    };
    client.call(DELEGATE, { ...LONG, waitSeconds: 600 }, { onprogress }).catch(() => undefined);
  });
}

/** The server of the tests that do not end it. */
let whole: Stage;
beforeAll(async () => {
  whole = await stage({ args: ['--mode', 'auto'] });
});

describe('a client that disconnects', () => {
  test('E4 a task continues on the agent when its client disconnects', async () => {
    const client = await startClient(whole.server);
    await client.call(DELEGATE, LONG);
    await client.close();
    expect((await whole.peer.task(await running(whole))).state).toBe('WORKING');
  });

  test('with --on-disconnect cancel, the task is cancelled, and the status names the principal, the channel and the reason', async () => {
    const client = await startClient(whole.server, { args: ENDING });
    await client.call(DELEGATE, LONG);
    await client.close();
    const taskId = await running(whole);
    expect(await ended(whole, taskId)).toBe(
      'Cancelled by the local user over MCP: the client closed the connection',
    );
    expect(client.stderr).toContain('a client disconnected, so its task is cancelled');
  });

  test('with --on-disconnect cancel, the task is cancelled even if the delegating call has not returned yet', async () => {
    const client = await startClient(whole.server, { args: ENDING });
    client.send('tools/call', {
      name: DELEGATE,
      arguments: { task: LONG.task, waitSeconds: 600 },
      _meta: { progressToken: 1 },
    });
    await client.progressed(/ runs: /);
    await client.close();
    expect(await ended(whole, await running(whole))).toContain('the client closed the connection');
  });

  test('with --on-disconnect cancel, a task that another client started continues', async () => {
    const stream = await whole.peer.stream(LONG.task);
    await stream.until((event) => event.state === 'WORKING');
    const { taskId, sessionId } = await whole.peer.task(await running(whole));
    const client = await startClient(whole.server, { args: ENDING });
    await client.call('wait_for_task', { sessionId, waitSeconds: 0 });
    await client.close();
    expect((await whole.peer.task(taskId)).state).toBe('WORKING');
  });

  test('B3 with --on-disconnect cancel, if the agent is down at the disconnect, the next bridge sends the cancel', async () => {
    const own = await stage({ args: ['--mode', 'auto'] });
    const stateDir = await stateDirectory();
    const client = await startClient(own.server, { args: ENDING, stateDir });
    await client.call(DELEGATE, LONG);
    const taskId = await running(own);
    await own.server.kill();
    await client.close();
    const recorded = await rowsIn(stateDir, 'SELECT state, cancel FROM delegations');
    expect(recorded).toEqual([['accepted', 'the client closed the connection']]);
    const again = await stageAgain(own);
    await startClient(again.server, { stateDir });
    expect(await ended(again, taskId)).toBe(
      'Cancelled by the local user over MCP: the client closed the connection',
    );
  });

  test('B3 while the agent is down, a bridge tries to send a recorded cancel several times in a minute', async () => {
    const own = await stage({ args: ['--mode', 'auto'] });
    const stateDir = await stateDirectory();
    const client = await startClient(own.server, { args: ENDING, stateDir });
    await client.call(DELEGATE, LONG);
    await own.server.kill();
    await client.close();
    const next = await startClient(own.server, { stateDir });
    await next.logged(/(a recorded cancel was not carried out[^]*){3}/);
  });

  test('with --on-disconnect cancel over HTTP, a task continues if a signal ends the bridge', async () => {
    const bridge = await startHttp(whole.server, { args: ENDING });
    await waits(bridge);
    await bridge.kill('SIGTERM');
    expect((await whole.peer.task(await running(whole))).state).toBe('WORKING');
  });

  test('with --on-disconnect cancel over HTTP, a client’s task continues if another client closes stdin of the same bridge', async () => {
    const client = await startClient(whole.server, { args: [...ENDING, '--http', '0'] });
    const served = /"url":"([^"]+)","tokenFile":"([^"]+)"/;
    await client.logged(served);
    const [, url = '', file = ''] = served.exec(client.stderr) ?? [];
    const token = (await readFile(file, 'utf8')).trim();
    await waits({ url, credentials: { authorization: `Bearer ${token}` } });
    await client.close();
    expect((await whole.peer.task(await running(whole))).state).toBe('WORKING');
  });

  test('with --on-disconnect cancel over HTTP, DELETE cancels only the tasks of the client that sends it', async () => {
    const bridge = await startHttp(whole.server, { args: ENDING });
    const { url, token } = bridge;
    const [first, second] = [new McpClient({ url, token }), new McpClient({ url, token })];
    const { structuredContent } = await first.call(DELEGATE, LONG);
    const { sessionId } = Object(structuredContent);
    const theirs = await running(whole);
    await second.call(DELEGATE, { ...LONG, task: 'wait 601 seconds' });
    const own = await running(whole);
    await second.call(WAIT, { sessionId, waitSeconds: 0 });
    await second.close();
    expect(await ended(whole, own)).toContain('the client closed the connection');
    expect((await whole.peer.task(theirs)).state).toBe('WORKING');
    await first.close();
  });

  test('with --on-disconnect cancel over HTTP, the bridge treats the end of the MCP session as a disconnect', async () => {
    const bridge = await startHttp(whole.server, { args: ENDING });
    const client = new McpClient({ url: bridge.url, token: bridge.token });
    await client.call(DELEGATE, LONG);
    await client.close();
    expect(await ended(whole, await running(whole))).toContain('the client closed the connection');
  });
});

test('the status of a task that was cancelled over MCP says that the cancel came over MCP, with or without a reason', async () => {
  const client = await startClient(whole.server);
  for (const reason of ['the plan has changed', undefined]) {
    const begun = await client.call(DELEGATE, LONG);
    const { sessionId, taskId } = Object(begun.structuredContent);
    await client.call(CANCEL, { sessionId, reason });
    const { statusText } = await whole.peer.task(String(taskId));
    expect(statusText).toBe(`Cancelled by the local user over MCP: ${reason ?? 'no reason was given'}`);
  }
});

test('all results about a cancelled task use the spelling "cancelled"', async () => {
  const client = await startClient(whole.server);
  const begun = await client.call(DELEGATE, LONG);
  const { sessionId } = Object(begun.structuredContent);
  const results = [];
  for (const name of [CANCEL, WAIT, CHECK, CANCEL]) results.push(await client.call(name, { sessionId }));
  results.push(await client.call(DECIDE, { sessionId, callId: 'c', shown: '00000000', decision: 'deny' }));
  results.push(await client.call(LIST, {}));
  const said = JSON.stringify(results);
  expect(said).toContain('Cancelled by the local user over MCP: no reason was given');
  expect(said).not.toMatch(/canceled/i);
});
