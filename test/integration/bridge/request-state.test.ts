/**
 * Tests correct and wrong use of `requestState`, the signed state of a call that asks with forms (MCP 2026-07-28).
 */
import { describe, expect, test } from '@jest/globals';
import { createRequestStateCodec } from '@modelcontextprotocol/server';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { FakeAgent } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import {
  CHECK,
  DELEGATE,
  FAST_ANSWERS,
  WAIT,
  bridgeStart,
  closing,
  program,
  startAgent,
  stateDirectory,
} from './support/bridge-stage.ts';
import { type TasksClient, tasksClient } from './support/tasks-client.ts';

const KEY_FILE = 'request-state-key';
const INVALID_PARAMS = -32602;

const asked = z.looseObject({
  resultType: z.literal('input_required'),
  inputRequests: z.record(z.string(), z.unknown()),
  requestState: z.string(),
});
type Asked = z.infer<typeof asked>;

const accepted = ({ inputRequests }: Asked): Record<string, unknown> =>
  Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: {} }]));

const delegate = (task: string): Record<string, unknown> => ({ name: DELEGATE, arguments: { task } });

const delegateTo = (agent: string, waitSeconds: number): Record<string, unknown> => ({
  name: DELEGATE,
  arguments: { task: 'do it', agent, waitSeconds },
});

function expectRefused(answer: Awaited<ReturnType<TasksClient['ask']>>): void {
  expect(answer).toMatchObject({
    error: { code: INVALID_PARAMS, data: { reason: 'invalid_request_state' } },
  });
}

async function begun(client: TasksClient, task: string): Promise<Asked> {
  return asked.parse((await client.ask('tools/call', delegate(task))).result);
}

interface Place {
  agent: FakeAgent;
  stateDir: string;
}

async function place(): Promise<Place> {
  const agent = await startAgent({
    onMessage: (task) => task.work().ask(pendingWrite('one')),
    onDecisions: (task, [decision]) => task.work().say(`decided ${decision?.decision}`).complete(),
  });
  return { agent, stateDir: await stateDirectory() };
}

async function clientAt({ agent, stateDir }: Place): Promise<TasksClient> {
  const start = await bridgeStart(agent, { stateDir, args: FAST_ANSWERS });
  return closing(await tasksClient(program, start, { tasks: false }));
}

describe('R92 the requestState (signed state in MCP) of a call that waits for forms', () => {
  test('the bridge accepts an unchanged requestState, also after a restart with the same state directory', async () => {
    const here = await place();
    const first = await clientAt(here);
    const round = await begun(first, 'do it');
    await first.close();
    const next = await clientAt(here);
    const answer = await next.ask('tools/call', {
      ...delegate('do it'),
      inputResponses: accepted(round),
      requestState: round.requestState,
    });
    expect(answer.result).toMatchObject({ structuredContent: { sessionId: 'session-1' } });
    expect(here.agent.tasks.size).toBe(1);
  });

  test('the answers reach the agent that asked, also if another agent uses the same ids', async () => {
    const { agent, stateDir } = await place();
    const other = await startAgent({ onMessage: (task) => task.work() });
    const agents = { other: { url: other.url }, asking: { url: agent.url } };
    await writeFile(join(stateDir, 'config.json'), JSON.stringify({ bridge: { agents } }));
    const client = closing(await tasksClient(program, { stateDir, args: FAST_ANSWERS }, { tasks: false }));
    await client.ask('tools/call', delegateTo('other', 0));
    const round = asked.parse((await client.ask('tools/call', delegateTo('asking', 20))).result);
    const answer = await client.ask('tools/call', {
      ...delegateTo('asking', 20),
      inputResponses: accepted(round),
      requestState: round.requestState,
    });
    expect(answer.result).toMatchObject({ structuredContent: { agent: 'asking', state: 'completed' } });
  });

  test('a note about the session waits for the result, because the forms before it show no note', async () => {
    const here = await place();
    const client = await clientAt(here);
    await begun(client, 'do it');
    const { task } = here.agent;
    // A backup of the agent is restored, so the session gets a note.
    task.seq = 1;
    task.events.length = 0;
    task.ask(pendingWrite('one'));
    await client.ask('tools/call', { name: CHECK, arguments: { sessionId: 'session-1' } });
    const waiting = { name: WAIT, arguments: { sessionId: 'session-1' } };
    const round = asked.parse((await client.ask('tools/call', waiting)).result);
    const answer = await client.ask('tools/call', {
      ...waiting,
      inputResponses: accepted(round),
      requestState: round.requestState,
    });
    expect(answer.result).toMatchObject({
      structuredContent: { state: 'completed', notes: [expect.stringContaining('older state')] },
    });
  });

  test('the bridge refuses a requestState with one changed character, and starts and decides nothing', async () => {
    const here = await place();
    const client = await clientAt(here);
    const round = await begun(client, 'do it');
    const { requestState } = round;
    for (let at = 0; at < requestState.length; at += 1) {
      const other = requestState[at] === 'B' ? 'A' : 'B';
      const changed = `${requestState.slice(0, at)}${other}${requestState.slice(at + 1)}`;
      expectRefused(
        await client.ask('tools/call', {
          ...delegate('do it'),
          inputResponses: accepted(round),
          requestState: changed,
        }),
      );
    }
    expect(here.agent.tasks.size).toBe(1);
    expect(here.agent.decisions).toEqual([]);
  });

  test.each<[string, (round: Asked, other: Asked) => Record<string, unknown>]>([
    [
      'missing although the call has answers',
      (round) => ({ ...delegate('one'), inputResponses: accepted(round) }),
    ],
    [
      'of a call with other arguments',
      (round, other) => ({
        ...delegate('one'),
        inputResponses: accepted(round),
        requestState: other.requestState,
      }),
    ],
    [
      'of a call of another tool',
      (round) => ({
        name: WAIT,
        arguments: { sessionId: 'session-1' },
        inputResponses: accepted(round),
        requestState: round.requestState,
      }),
    ],
    [
      'sent with a tool that asks for no decision',
      (round) => ({
        name: 'list_all_active_sessions',
        arguments: {},
        inputResponses: accepted(round),
        requestState: round.requestState,
      }),
    ],
    [
      'not a string',
      (round) => ({ ...delegate('one'), inputResponses: accepted(round), requestState: { sessionId: 'x' } }),
    ],
  ])('the bridge refuses a requestState that is %s, and starts and decides nothing', async (_, misused) => {
    const here = await place();
    const client = await clientAt(here);
    const [one, other] = [await begun(client, 'one'), await begun(client, 'other')];
    expectRefused(await client.ask('tools/call', misused(one, other)));
    expect(here.agent.tasks.size).toBe(2);
    expect(here.agent.decisions).toEqual([]);
  });

  test('the bridge refuses an expired requestState, and one that another installation has signed', async () => {
    const here = await place();
    const client = await clientAt(here);
    const round = await begun(client, 'do it');
    const keyPath = join(here.stateDir, KEY_FILE);
    expect((await stat(keyPath)).mode & 0o777).toBe(0o600);
    const key = (await readFile(keyPath, 'utf8')).trim();
    const [, body = ''] = round.requestState.split('.');
    const { p: payload } = z
      .object({ p: z.unknown() })
      .parse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')));
    const call = (requestState: string): ReturnType<TasksClient['ask']> =>
      client.ask('tools/call', { ...delegate('do it'), inputResponses: accepted(round), requestState });
    expectRefused(await call(await createRequestStateCodec({ key, ttlSeconds: -60 }).mint(payload)));
    expectRefused(await call(await createRequestStateCodec({ key: 'x'.repeat(43) }).mint(payload)));
    expect(here.agent.tasks.size).toBe(1);
    expect(here.agent.decisions).toEqual([]);
    // The same content is valid with this installation's key and without an expiry.
    const valid = await call(await createRequestStateCodec({ key }).mint(payload));
    expect(valid.result).toMatchObject({ structuredContent: { state: 'completed' } });
  });
});
