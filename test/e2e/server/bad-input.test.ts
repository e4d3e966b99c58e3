/** X3 whatever comes in: a typed error with a sentence, the server serves on, and the task that waits waits on. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TOOL_APPROVAL } from '../../../shared/protocol/tool-approval.ts';
import { decisionOn, decisionsPart, written } from '../../support/a2a-message.ts';
import { jsonOf, refusal, Refusal, resultOf, rpcBody } from '../../support/rpc-answer.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import type { StreamEvent } from '../../support/wire-event.ts';

let on: SharedStage;
let parked: StreamEvent;

beforeEach(async () => {
  on = await sharedStage();
  parked = await (await on.peer.stream('append "once" to effects.txt')).parked();
});

/** Nothing of it has left a trace: the same task at the same place in its journal, no other, and it can go on. */
async function expectNothingChanged(): Promise<void> {
  const { peer, file } = on;
  const { taskId, seq, pending } = parked;
  expect(await peer.list()).toMatchObject([{ taskId, seq, state: 'INPUT_REQUIRED', pending }]);
  expect(await file('effects.txt')).toBeUndefined();
  const last = await (await peer.decide(taskId, [decisionOn(pending, 'approve')])).rest();
  expect(last.at(-1)?.state).toBe('COMPLETED');
  expect(await file('effects.txt')).toBe('once');
}

function deep(open: string, close: string): string {
  return `${open.repeat(10_000)}1${close.repeat(10_000)}`;
}

async function expectRefusal(work: Promise<unknown>, reason: string): Promise<void> {
  const refused = await refusal(work);
  expect(refused).toMatchObject({ reason, facts: { retryable: 'false' } });
  // A sentence, that ends like one.
  expect(refused.message).toMatch(/^\S.{20,}[.?]$/s);
}

describe('what is not there', () => {
  it('X3 an unknown session, task, call or decision', async () => {
    const { peer } = on;
    const { taskId, pending } = parked;
    await expectRefusal(peer.send('go on', { sessionId: 'session-none' }), 'UNKNOWN_SESSION');
    await expectRefusal(peer.send('go on', { taskId: 'task-none' }), 'UNKNOWN_TASK');
    await expectRefusal(peer.send('go on', { taskId, sessionId: 'session-none' }), 'MALFORMED');
    await expectRefusal(peer.task('task-none'), 'UNKNOWN_TASK');
    await expectRefusal(peer.task('../../etc/passwd'), 'UNKNOWN_TASK');
    await expectRefusal(peer.follow('task-none'), 'UNKNOWN_TASK');
    await expectRefusal(peer.cancel('task-none'), 'UNKNOWN_TASK');
    for (const callId of ['call-none', '__proto__', 'constructor'])
      await expectRefusal(peer.decide(taskId, [{ callId, shown: 'x', decision: 'approve' }]), 'UNKNOWN_CALL');
    await expectRefusal(peer.decide(taskId, [decisionOn(pending, 'perhaps')]), 'INVALID_DECISION');
    await expectRefusal(
      peer.decide('', [decisionOn(pending, 'approve')], { taskId: '' }),
      'INVALID_DECISION',
    );
    const hash = decisionOn(pending, 'approve', { shown: '0'.repeat(8) });
    await expectRefusal(peer.decide(taskId, [hash]), 'INPUT_CHANGED');
    await expectNothingChanged();
  });

  it('X3 a workspace that is none, or a model that nobody offers', async () => {
    const { peer, server } = on;
    await writeFile(join(server.workspace, 'a-file'), '');
    const workspaces = [
      '/no/such/directory',
      'relative',
      '/',
      join(server.workspace, 'a-file'),
      'a\0b',
      '/dev/null',
    ];
    for (const workspace of workspaces)
      await expectRefusal(peer.send('say hello', { settings: { workspace } }), 'UNKNOWN_WORKSPACE');
    for (const model of ['gpt-none', 'openai:', 'anthropic:claude', '__proto__'])
      await expectRefusal(peer.send('say hello', { settings: { model } }), 'UNKNOWN_MODEL');
    for (const settings of [
      { autoExecute: 'yes' },
      { workspace: '' },
      { workspace: 5 },
      { unknown: true },
      5,
    ]) {
      const message = { ...written('say hello'), metadata: { [TOOL_APPROVAL]: settings } };
      await expectRefusal(peer.call('SendMessage', { message }), 'MALFORMED');
    }
    await expectNothingChanged();
  });
});

describe('what cannot be read', () => {
  it('X3 a message without parts, or with parts that are none', async () => {
    const { peer } = on;
    const { taskId } = parked;
    for (const parts of [[], [{}], [{ text: ['approve'] }], [{ text: 5 }]])
      await expectRefusal(peer.send(parts, { taskId }), 'MALFORMED');
    await expectRefusal(peer.send([{ url: 'file:///etc/passwd' }]), 'UNSUPPORTED_CONTENT');
    await expectRefusal(peer.send('say hello', { messageId: '' }), 'MALFORMED');
    await expectRefusal(peer.send('say hello', { messageId: 'm'.repeat(1_000_000) }), 'MALFORMED');
    await expectRefusal(peer.call('SendMessage', {}), 'MALFORMED');
    await expectNothingChanged();
  });

  it('X3 a text of 10 MB, over every connection, and as a stream', async () => {
    const { peer } = on;
    const text = 'x'.repeat(10 * 1024 * 1024);
    await expectRefusal(peer.send(text), 'TOO_LARGE');
    await expectRefusal(peer.stream(text), 'TOO_LARGE');
    const connection = await peer.connect();
    await expectRefusal(peer.send(text, { over: connection }), 'TOO_LARGE');
    expect(await peer.call('ListTasks', {}, { over: connection })).toMatchObject({ totalSize: 1 });
    await expectNothingChanged();
  });

  it('X3 nesting 10,000 deep, wherever it is', async () => {
    const { peer } = on;
    const { taskId, pending } = parked;
    const edit = { ...decisionOn(pending, 'edit'), input: { path: 'HERE', content: 'x' } };
    const bodies = [
      rpcBody('SendMessage', { message: written([{ data: 'HERE' }], { taskId }) }),
      rpcBody('SendMessage', { message: written([decisionsPart([edit])], { taskId }) }),
      rpcBody('HERE', {}),
      '"HERE"',
    ];
    for (const body of bodies)
      for (const nested of [deep('[', ']'), deep('{"a":', '}')]) {
        const response = await peer.request('/', { body: body.replace('"HERE"', nested) });
        await expectRefusal(jsonOf(response).then(resultOf), 'MALFORMED');
      }
    await expectNothingChanged();
  });

  it('X3 invalid UTF-8, and a body that is no JSON', async () => {
    const { peer } = on;
    const broken = Buffer.from(rpcBody('SendMessage', { message: written('say HERE') }));
    broken[broken.indexOf('HERE')] = 0xff;
    const bodies = [broken, '{', 'hello', '{"jsonrpc":"2.0",}', '\0', '[]', '5', '"2.0"', rpcBody('', {})];
    for (const body of bodies) {
      const response = await peer.request('/', { body });
      const refused = await refusal(jsonOf(response).then(resultOf));
      expect(refused).toBeInstanceOf(Refusal);
      expect({ body, reason: refused.reason }).toEqual({ body, reason: 'MALFORMED' });
    }
    await expectNothingChanged();
  });

  it('X3 what is no HTTP, or only half of it', async () => {
    const { peer } = on;
    const noise = await peer.connect();
    noise.write({ method: '\0\x01', path: '\x02', headers: {} });
    expect((await noise.response()).status).toBe(400);
    const headers = await peer.connect();
    headers.write({ method: 'GET', path: '/health', headers: { 'X-Large': 'x'.repeat(100_000) } });
    expect((await headers.response()).status).toBe(431);
    const half = await peer.connect();
    const body = rpcBody('SendMessage', { message: written('say hello') });
    peer.write(half, '/', { body: body.slice(0, 50), headers: { 'Content-Length': String(body.length) } });
    half.reset();
    await half.closed;
    await expectNothingChanged();
  });

  it('X1 a wrong token, or none', async () => {
    const { peer } = on;
    const { taskId } = parked;
    for (const Authorization of ['', 'Bearer', 'Bearer wrong-token-0123456789', 'Basic abc'])
      for (const [method, params] of [
        ['GetTask', { id: taskId }],
        ['CancelTask', { id: taskId }],
        ['SendMessage', { message: written('approve', { taskId }) }],
      ] as const)
        await expectRefusal(peer.call(method, params, { headers: { Authorization } }), 'UNAUTHENTICATED');
    await expectNothingChanged();
  });
});
