/** Tests push notifications (A2A 1.0 §4.3, and those of 0.3) with real receivers, and with servers that are killed. */
import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { LegacyJsonRpcTransport, LegacyRestTransport } from '@a2a-js/sdk/compat/v0_3/client';
import { SendMessageRequest as Sent } from '@a2a-js/sdk';
import { text } from 'node:stream/consumers';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { z } from 'zod';
import { writtenMessage } from '../../support/a2a-message.ts';
import { append, plan } from '../../support/offline-plan.ts';
import type { PushReceiver } from '../../support/push-receiver.ts';
import {
  approve,
  ended,
  local,
  LOCAL,
  parked,
  receiving,
  seqs,
  serverCommand,
} from '../../support/push-stage.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import { stage, stageAgain } from '../../support/stage.ts';

const jwks = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) });

/** The parts of a `Task` of A2A 0.3 that a receiver reads. */
const legacyTask = z.object({
  kind: z.literal('task'),
  id: z.string(),
  status: z.object({ state: z.string() }),
  artifacts: z.array(z.object({ parts: z.array(z.object({ text: z.string() })) })).default([]),
});

/** Expects the position of the task at the registration, then each later position once or more, in order. */
function expectWholeFrom(receiver: PushReceiver, first: number, last: number): void {
  const got = seqs(receiver).map(Number);
  expect(got[0]).toBe(first);
  expect(got.at(-1)).toBe(last);
  expect(got).toEqual(got.toSorted((one, other) => one - other));
}

describe('push notifications', () => {
  it('the receiver gets the task, then each event in order, with the headers of its configuration', async () => {
    const receiver = await receiving();
    const at = await sharedStage(LOCAL);
    const task = await parked(at);
    const { taskId } = task;
    const made = await at.peer.call('CreateTaskPushNotificationConfig', {
      taskId,
      id: 'mine',
      url: receiver.url,
      token: 'a token',
      authentication: { scheme: 'Bearer', credentials: 'credentials' },
    });
    const known = { taskId, id: 'mine', url: receiver.url, authentication: { scheme: 'Bearer' } };
    expect(made).toMatchObject(known);
    await receiver.until(() => receiver.notifications.length > 0);
    const got = await at.peer.call('GetTaskPushNotificationConfig', { taskId, id: 'mine' });
    const listed = await at.peer.call('ListTaskPushNotificationConfigs', { taskId });
    expect(got).toMatchObject(known);
    expect(listed).toMatchObject({ configs: [known] });
    expect(JSON.stringify([made, got, listed])).not.toMatch(/a token|"credentials":"credentials"/);

    await approve(at, task);
    await receiver.until(ended(receiver));
    const history = await at.peer.history(taskId);
    const first = Number(receiver.notifications[0]?.event.seq);
    const later = history.filter(({ seq }) => seq > first).map(({ seq }) => seq);
    expect(seqs(receiver)).toEqual([first, ...later]);
    expect(receiver.notifications[0]).toMatchObject({
      event: { state: 'INPUT_REQUIRED' },
      headers: {
        'content-type': 'application/a2a+json',
        'x-a2a-notification-token': 'a token',
        authorization: 'Bearer credentials',
      },
    });
    // The configuration ends with its task.
    while (
      JSON.stringify(await at.peer.call('ListTaskPushNotificationConfigs', { taskId })).includes('mine')
    );
  });

  it.each([
    ['JSON-RPC', LegacyJsonRpcTransport],
    ['HTTP+JSON', LegacyRestTransport],
  ])(
    'a client of A2A 0.3 registers an address over %s, and gets the whole task whenever its state changes',
    async (_binding, Transport) => {
      const receiver = await receiving();
      const other = await receiving();
      const at = await sharedStage(LOCAL);
      const { url: endpoint, token } = at.server;
      const client = new Transport({
        endpoint,
        fetchImpl: (url, init) => {
          const headers = new Headers(init?.headers);
          headers.set('authorization', `Bearer ${token}`);
          return fetch(url, { ...init, headers });
        },
      });
      const card: unknown = await (await fetch(new URL('/.well-known/agent-card.json', endpoint))).json();
      expect(card).toMatchObject({ protocolVersion: '0.3', capabilities: { pushNotifications: true } });

      const task = await client.sendMessage(
        Sent.fromJSON({
          message: writtenMessage(plan(append('effects.txt', 'one'), { say: 'We end.' })),
          configuration: {
            taskPushNotificationConfig: {
              url: receiver.url,
              token: 'a token',
              authentication: { scheme: 'Bearer' },
            },
          },
        }),
      );
      if (!('status' in task)) throw new Error('a task was expected');
      const taskId = task.id;
      const named = { tenant: '', taskId, id: 'other' };
      await client.createTaskPushNotificationConfig({
        ...named,
        url: other.url,
        token: '',
        authentication: undefined,
      });
      await other.until(() => other.notifications.length > 0);
      const { configs } = await client.listTaskPushNotificationConfig({
        tenant: '',
        taskId,
        pageSize: 0,
        pageToken: '',
      });
      expect(configs).toMatchObject([
        { taskId, id: taskId, url: receiver.url, token: '' },
        { taskId, id: 'other', url: other.url },
      ]);
      expect(await client.getTaskPushNotificationConfig(named)).toMatchObject({ url: other.url });
      await client.deleteTaskPushNotificationConfig(named);
      await expect(client.getTaskPushNotificationConfig(named)).rejects.toThrow();

      await approve(at, await at.peer.task(taskId));
      const bodies = () => receiver.notifications.map(({ body }) => legacyTask.parse(JSON.parse(body)));
      await receiver.until(() => bodies().at(-1)?.status.state === 'completed');
      expect(new Set(bodies().map(({ id }) => id))).toEqual(new Set([taskId]));
      expect(bodies().at(-1)?.artifacts[0]?.parts[0]?.text).toMatch(/We end\./);
      const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', endpoint));
      for (const { headers, body } of receiver.notifications) {
        expect(headers).toMatchObject({
          'content-type': 'application/json',
          'x-a2a-notification-token': 'a token',
        });
        const bearer = headers.authorization?.replace('Bearer ', '') ?? '';
        const { payload } = await jwtVerify(bearer, keys, { audience: receiver.url });
        expect(payload['request_body_sha256']).toBe(createHash('sha256').update(body).digest('hex'));
      }
      expect(other.notifications).toHaveLength(1);
    },
  );

  it.each<[string, (config: object) => object]>([
    ['config, as §7.5 says', (config) => ({ config: { pushNotificationConfig: config } })],
    [
      'config, as the Python SDK sends it',
      (config) => ({ parent: 'tasks/x', config_id: 'mine', config: { push_notification_config: config } }),
    ],
    ['pushNotificationConfig, as a2a.proto says', (config) => ({ pushNotificationConfig: config })],
  ])(
    'in A2A 0.3 over HTTP+JSON, the server reads a configuration from the field %s',
    async (_field, body) => {
      const receiver = await receiving();
      const at = await sharedStage(LOCAL);
      const { taskId } = await parked(at);
      const made = await fetch(new URL(`/v1/tasks/${taskId}/pushNotificationConfigs`, at.server.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${at.server.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body({ id: 'mine', url: receiver.url })),
      });
      const answer: unknown = await made.json();
      expect(answer).toMatchObject({
        name: `tasks/${taskId}/pushNotificationConfigs/mine`,
        pushNotificationConfig: { id: 'mine', url: receiver.url },
      });
      await receiver.until(() => receiver.notifications.length > 0);
    },
  );

  it('X1 each post is signed for its receiver and its body; the keys are public, and survive a restart and a rotation', async () => {
    const receiver = await receiving();
    const before = await stage(local);
    const task = await parked(before);
    const { taskId } = task;
    await before.peer.call('CreateTaskPushNotificationConfig', { taskId, url: receiver.url });
    await receiver.until(() => receiver.notifications.length === 1);
    await before.server.kill();
    expect(await serverCommand(before.server, ['push', 'rotate-key'])).toContain('A new key is published');
    const after = await stageAgain(before);
    await approve(after, task);
    await receiver.until(ended(receiver));

    const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', after.server.url));
    const signatures = receiver.notifications.map(({ headers }) =>
      String(headers['x-a2a-notification-signature']),
    );
    const audience = receiver.url;
    for (const [index, { headers, body }] of receiver.notifications.entries()) {
      const signature = signatures[index] ?? '';
      // Without credentials of the client, the signature is the bearer token too.
      expect(headers.authorization).toBe(`Bearer ${signature}`);
      const { payload } = await jwtVerify(signature, keys, { audience, typ: 'JWT' });
      const { seq } = receiver.notifications[index]?.event ?? {};
      expect({ seq, ...payload }).toMatchObject({
        seq,
        taskId,
        request_body_sha256: createHash('sha256').update(body).digest('hex'),
      });
    }
    expect(new Set(signatures).size).toBe(signatures.length);
    await expect(
      jwtVerify(signatures[0] ?? '', keys, { audience: 'http://127.0.0.1/other' }),
    ).rejects.toThrow(/aud/);
    const published = await (await fetch(new URL('/.well-known/jwks.json', after.server.url))).json();
    const key = { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' };
    const known = { ...key, x: expect.any(String), kid: expect.any(String) };
    expect(published).toEqual({ keys: [known, known] });
    // The next key does not sign yet, because receivers may not have read it.
    const signedBy = signatures.map((signature) => decodeProtectedHeader(signature).kid);
    expect(new Set(signedBy)).toEqual(new Set([jwks.parse(published).keys[0]?.kid]));
  });

  it('a receiver that was away gets everything after a kill of the server, without a gap', async () => {
    const receiver = await receiving();
    const slow = await receiving();
    const before = await stage(local);
    const task = await parked(before);
    const { taskId } = task;
    for (const { url } of [receiver, slow])
      await before.peer.call('CreateTaskPushNotificationConfig', { taskId, url });
    await receiver.until(() => receiver.notifications.length === 1);
    await slow.until(() => slow.notifications.length === 1);
    // One receiver fails, one never answers. Neither delays the task.
    receiver.reply = 500;
    slow.reply = 'silence';
    await approve(before, task);
    await receiver.until(() => receiver.refused > 0);
    await before.server.kill();
    receiver.reply = 204;
    slow.reply = 204;

    const after = await stageAgain(before);
    await receiver.until(ended(receiver));
    await slow.until(ended(slow));
    const history = await after.peer.history(taskId);
    const first = Number(receiver.notifications[0]?.event.seq);
    const all = [first, ...history.map(({ seq }) => seq).filter((seq) => seq > first)];
    for (const each of [receiver, slow]) {
      expectWholeFrom(each, first, all.at(-1) ?? 0);
      expect([...new Set(seqs(each))]).toEqual(all);
    }
  });

  it('X2 an address of this machine or of a private network is refused, and a redirect is not followed', async () => {
    const receiver = await receiving();
    const hidden = await receiving();
    const closed = await stage();
    const task = await parked(closed);
    for (const url of [
      receiver.url,
      'http://169.254.169.254/latest',
      'http://[::1]/',
      'file:///etc/passwd',
      'x',
    ])
      await expect(
        closed.peer.call('CreateTaskPushNotificationConfig', { taskId: task.taskId, url }),
      ).rejects.toThrow();
    const configuration = { taskPushNotificationConfig: { url: receiver.url } };
    const tasks = (await closed.peer.list()).length;
    await expect(
      closed.peer.call('SendMessage', { message: writtenMessage('say Hello.'), configuration }),
    ).rejects.toThrow(/this machine/);
    expect(await closed.peer.list()).toHaveLength(tasks);

    const at = await stage({ args: ['--allow-private-host', receiver.host, '--metrics', 'on'] });
    const { taskId } = await parked(at);
    receiver.reply = { location: hidden.url };
    await at.peer.call('CreateTaskPushNotificationConfig', { taskId, url: receiver.url });
    await receiver.until(() => receiver.refused > 1);
    expect([receiver.notifications.length, hidden.notifications.length, hidden.refused]).toEqual([0, 0, 0]);
    const { body } = await at.peer.request('/metrics', { method: 'GET' });
    const metrics = await text(body);
    expect(metrics).toMatch(/push_notifications_total\{[^}]*"failed"[^}]*\} [1-9]/);
    // The log names the host. The rest of the address may be a secret.
    expect(at.server.log()).toContain(receiver.host);
    expect(at.server.log()).not.toContain('key=secret');
  });
});
