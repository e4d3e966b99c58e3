/**
 * X3: every bad input gets a typed error with a sentence. The server keeps serving, and the waiting task still waits.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/tool-approval.ts';
import { decisionOn, writtenMessage } from '../../support/a2a-message.ts';
import { refusal } from '../../support/rpc-answer.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import type { StreamEvent } from '../../support/wire-event.ts';

let on: SharedStage;
let parked: StreamEvent;

beforeEach(async () => {
  on = await sharedStage();
  parked = await (await on.peer.stream('append "once" to effects.txt')).parked();
});

/** Checks that the input changed nothing: the journal has the same tasks, and the waiting task can continue. */
async function expectNothingChanged(): Promise<void> {
  const { peer, file } = on;
  const { taskId, seq, pending } = parked;
  expect(await peer.list()).toMatchObject([{ taskId, seq, state: 'INPUT_REQUIRED', pending }]);
  expect(await file('effects.txt')).toBeUndefined();
  const last = await (await peer.decide(taskId, [decisionOn(pending, 'approve')])).rest();
  expect(last.at(-1)?.state).toBe('COMPLETED');
  expect(await file('effects.txt')).toBe('once');
}

async function expectRefusal(work: Promise<unknown>, reason: string): Promise<void> {
  const refused = await refusal(work);
  expect(refused).toMatchObject({ reason, facts: { retryable: 'false' } });
  // The message must be a sentence: it ends with a full stop or a question mark.
  expect(refused.message).toMatch(/^\S.{20,}[.?]$/s);
}

describe('a name that does not exist', () => {
  it('X3 an unknown session, task, call or decision gets a typed error', async () => {
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

  it('X3 an unknown workspace or model gets a typed error', async () => {
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
      const message = { ...writtenMessage('say hello'), metadata: { [TOOL_APPROVAL_EXTENSION]: settings } };
      await expectRefusal(peer.call('SendMessage', { message }), 'MALFORMED');
    }
    await expectNothingChanged();
  });
});

describe('an unreadable request', () => {
  it('X3 a message without parts, or with invalid parts, gets a typed error', async () => {
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

  it('X3 a message with a text of 10 MB gets a typed error, over every connection, and as a stream', async () => {
    const { peer } = on;
    const text = 'x'.repeat(10 * 1024 * 1024);
    await expectRefusal(peer.send(text), 'TOO_LARGE');
    await expectRefusal(peer.stream(text), 'TOO_LARGE');
    const connection = await peer.connect();
    await expectRefusal(peer.send(text, { over: connection }), 'TOO_LARGE');
    expect(await peer.call('ListTasks', {}, { over: connection })).toMatchObject({ totalSize: 1 });
    await expectNothingChanged();
  });

  it('X1 a request with a wrong token or without a token is refused', async () => {
    const { peer } = on;
    const { taskId } = parked;
    for (const Authorization of ['', 'Bearer', 'Bearer wrong-token-0123456789', 'Basic abc'])
      for (const [method, params] of [
        ['GetTask', { id: taskId }],
        ['CancelTask', { id: taskId }],
        ['SendMessage', { message: writtenMessage('approve', { taskId }) }],
      ] as const)
        await expectRefusal(peer.call(method, params, { headers: { Authorization } }), 'UNAUTHENTICATED');
    await expectNothingChanged();
  });
});
