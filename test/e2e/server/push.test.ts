/** Tests push notifications (A2A 1.0 §4.3, and those of 0.3) with real receivers, and with servers that are killed. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LegacyJsonRpcTransport, LegacyRestTransport } from '@a2a-js/sdk/compat/v0_3/client';
import { SendMessageRequest as Sent } from '@a2a-js/sdk';
import { text } from 'node:stream/consumers';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { z } from 'zod';
import { decisionOn, decisionsPart, writtenMessage } from '../../support/a2a-message.ts';
import { A2aPeer } from '../../support/a2a-peer.ts';
import { append, plan } from '../../support/offline-plan.ts';
import { type PushReceiver, pushReceiver } from '../../support/push-receiver.ts';
import { PROGRAM, type ServerHome } from '../../support/server-program.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { stage, stageAgain } from '../../support/stage.ts';
import { jsonOf } from '../../support/rpc-answer.ts';

const receivers: PushReceiver[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop();
});

async function receiving(): Promise<PushReceiver> {
  const receiver = await pushReceiver();
  receivers.push(receiver);
  return receiver;
}

async function failing(peer: A2aPeer) {
  const answer = await peer.request('/api/push/failing', { method: 'GET' });
  return failingList.parse(await jsonOf(answer)).receivers;
}

const jwks = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) });

const failingList = z.object({
  receivers: z.array(z.looseObject({ id: z.string(), state: z.string(), since: z.string() })),
});

/** Runs `a2a-server` for the state directory of a server. @returns its standard output */
async function serverCommand({ stateDir }: ServerHome, args: readonly string[]): Promise<string> {
  const all = [PROGRAM, ...args, '--state-dir', stateDir];
  return (await promisify(execFile)(process.execPath, all, { env: { PATH: process.env['PATH'] } })).stdout;
}

/** The failed attempts after which the server gives a receiver up. Their delays take a day. */
const ATTEMPTS_PER_DAY = 153;

/** Changes the stored failures of a server that does not run, as if its receivers had failed for days. */
async function failedSinceDays({ stateDir }: ServerHome, days: number): Promise<void> {
  const directory = join(stateDir, 'push');
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const stored = failed.parse(JSON.parse(await readFile(path, 'utf8')));
    const attempts = days * ATTEMPTS_PER_DAY;
    const delivery = { ...stored.delivery, attempts, since: Date.now() - days * 86_400_000, at: 0 };
    await writeFile(path, JSON.stringify({ ...stored, delivery }));
  }
}

const failed = z.looseObject({ delivery: z.looseObject({ type: z.literal('retrying') }) });

/** The parts of a `Task` of A2A 0.3 that a receiver reads. */
const legacyTask = z.object({
  kind: z.literal('task'),
  id: z.string(),
  status: z.object({ state: z.string() }),
  artifacts: z.array(z.object({ parts: z.array(z.object({ text: z.string() })) })).default([]),
});

const local = { args: ['--allow-private-host', '127.0.0.1'] };
/** The same, for the server of the tests that do not end it. */
const LOCAL = { allowPrivateHost: ['127.0.0.1'] };
const seqs = ({ notifications }: PushReceiver) => notifications.map(({ event }) => event.seq);
const ended = (receiver: PushReceiver) => () => receiver.notifications.at(-1)?.event.state === 'COMPLETED';

/** Starts a task that waits for a decision. */
async function parked({ peer }: Pick<SharedStage, 'peer'>) {
  return peer.send(plan(append('effects.txt', 'one'), { say: 'We end.' }));
}

async function approve(
  { peer }: Pick<SharedStage, 'peer'>,
  { taskId, pending }: Awaited<ReturnType<typeof parked>>,
) {
  const stream = await peer.decide(taskId, [decisionOn(pending, 'approve')]);
  await stream.rest();
}

/** Expects the position of the task at the registration, then each later position once or more, in order. */
function expectWholeFrom(receiver: PushReceiver, first: number, last: number): void {
  const got = seqs(receiver).map(Number);
  expect(got[0]).toBe(first);
  expect(got.at(-1)).toBe(last);
  expect(got).toEqual(got.toSorted((one, other) => one - other));
}

/** Returns a token for the settings. */
const longToken = (letter: string) => `${letter.repeat(39)}-own-token`;

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

  it('a message can register its address; the card says so; a deleted configuration gets nothing more', async () => {
    const receiver = await receiving();
    const other = await receiving();
    const at = await sharedStage(LOCAL);
    const card = await at.peer.request('/.well-known/agent-card.json', { method: 'GET' });
    expect(await jsonOf(card)).toMatchObject({ capabilities: { pushNotifications: true } });
    const configuration = { taskPushNotificationConfig: { url: receiver.url }, returnImmediately: true };
    await at.peer.call('SendMessage', { message: writtenMessage('say Hello.'), configuration });
    await receiver.until(ended(receiver));

    const task = await parked(at);
    const path = `/tasks/${task.taskId}/pushNotificationConfigs`;
    const body = JSON.stringify({ id: 'other', url: other.url });
    expect((await at.peer.request(path, { body })).status).toBe(200);
    await other.until(() => other.notifications.length === 1);
    expect((await at.peer.request(`${path}/other`, { method: 'DELETE' })).status).toBe(200);
    expect((await at.peer.request(`${path}/other`, { method: 'GET' })).status).toBe(404);
    await approve(at, task);
    expect(other.notifications).toHaveLength(1);
  });

  it('X1 the receivers of a revoked token get nothing more, and those of another token of the user get all', async () => {
    const [lost, kept] = [await receiving(), await receiving()];
    const at = await stage(local);
    const create = ['token', 'create', '--name', 'ann', '--role', 'delegate,approve'];
    const [stolen, own] = [await serverCommand(at.server, create), await serverCommand(at.server, create)];
    const peerOf = (token: string) => new A2aPeer({ url: at.server.url, token: token.trim() });
    const peer = peerOf(own);
    const task = await parked({ ...at, peer });
    for (const [by, { url }] of [[peerOf(stolen), lost] as const, [peer, kept] as const])
      await by.call('CreateTaskPushNotificationConfig', { taskId: task.taskId, url });
    for (const receiver of [lost, kept]) await receiver.until(() => receiver.notifications.length === 1);
    await serverCommand(at.server, ['token', 'revoke', stolen.slice(4, 16)]);
    await approve({ ...at, peer }, task);
    await kept.until(ended(kept));
    while (
      JSON.stringify(await peer.call('ListTaskPushNotificationConfigs', { taskId: task.taskId })).includes(
        'url',
      )
    );
    expect(lost.notifications).toHaveLength(1);
  });

  it('X1 the receivers of a token that the settings lost get nothing more, and those of an unchanged token get all', async () => {
    const [changed, removed, kept] = [await receiving(), await receiving(), await receiving()];
    const withTokens = (tokens: Record<string, string>) => ({
      ...local,
      env: {
        A2A_SERVER_TOKENS: Object.entries(tokens)
          .map(([name, letter]) => `${name}=${longToken(letter)}`)
          .join(','),
      },
    });
    const { server } = await stage(withTokens({ 'a/ann': 'a', 'a/bob': 'b', 'a/cleo': 'c' }));
    const peerOf = (letter: string) => new A2aPeer({ url: server.url, token: longToken(letter) });
    const task = await parked({ peer: peerOf('c') });
    for (const [letter, receiver] of [
      ['a', changed] as const,
      ['b', removed] as const,
      ['c', kept] as const,
    ]) {
      const { url } = receiver;
      await peerOf(letter).call('CreateTaskPushNotificationConfig', { taskId: task.taskId, url });
      await receiver.until(() => receiver.notifications.length === 1);
    }
    await server.stop();
    const next = await stage({ home: server, ...withTokens({ 'a/ann': 'x', 'a/cleo': 'c' }) });
    await approve({ peer: new A2aPeer({ url: next.server.url, token: longToken('c') }) }, task);
    await kept.until(ended(kept));
    await next.server.stop();
    expect([changed, removed].map(({ notifications }) => notifications.length)).toEqual([1, 1]);
  });

  it('E3 a message whose registration is refused is not sent; a repeated message registers its address once', async () => {
    const receiver = await receiving();
    const at = await sharedStage(LOCAL);
    const { taskId, pending } = await parked(at);
    const register = (id: string) =>
      at.peer.call('CreateTaskPushNotificationConfig', { taskId, id, url: receiver.url });
    const configuration = { taskPushNotificationConfig: { url: receiver.url }, returnImmediately: true };
    const denial = writtenMessage([decisionsPart([decisionOn(pending, 'deny')])], { taskId });
    for (let count = 1; count <= 10; count += 1) await register(String(count));
    await expect(at.peer.call('SendMessage', { message: denial, configuration })).rejects.toThrow(
      'Delete one',
    );
    expect((await at.peer.task(taskId)).pending).toHaveLength(1);

    const message = writtenMessage(plan(append('effects.txt', 'two')));
    const send = async () => {
      const sent = await at.peer.call('SendMessage', { message, configuration });
      return z.object({ task: z.object({ id: z.string() }) }).parse(sent).task.id;
    };
    const begun = await send();
    expect(await send()).toBe(begun);
    const { configs } = Object(await at.peer.call('ListTaskPushNotificationConfigs', { taskId: begun }));
    expect(configs).toHaveLength(1);
  });

  it('E3 a message that names only its session is not sent if its task can register no more addresses', async () => {
    const at = await sharedStage(LOCAL);
    const { taskId, sessionId, pending } = await parked(at);
    const { url } = await receiving();
    const send = (message: object, id: string) => {
      const configuration = { taskPushNotificationConfig: { id, url }, returnImmediately: true };
      return at.peer.call('SendMessage', { message, configuration });
    };
    for (let count = 1; count <= 10; count += 1)
      await at.peer.call('CreateTaskPushNotificationConfig', { taskId, id: String(count), url });
    const denial = writtenMessage([decisionsPart([decisionOn(pending, 'deny')])], { sessionId });
    await expect(send(denial, '11')).rejects.toThrow('Delete one');
    expect((await at.peer.task(taskId)).pending).toHaveLength(1);
    // The message replaces the address, so the task needs no more room.
    await send(denial, '10');
    expect((await at.peer.task(taskId)).pending).toEqual([]);
  });

  it('a repeated message registers no more addresses than another request', async () => {
    const at = await sharedStage(LOCAL);
    const { url } = await receiving();
    const message = writtenMessage(plan(append('effects.txt', 'one')));
    const send = (id: string) => {
      const configuration = { taskPushNotificationConfig: { id, url }, returnImmediately: true };
      return at.peer.call('SendMessage', { message, configuration });
    };
    for (let count = 1; count <= 10; count += 1) await send(String(count));
    await expect(send('11')).rejects.toThrow('Delete one');
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

  it('an operator sees a receiver that was given up, and retries it from where it was; another tenant sees nothing', async () => {
    const receiver = await receiving();
    const [ann, bob, eve] = ['ann', 'bob', 'eve'].map((name) => `${name}-${'0123456789'.repeat(3)}`);
    const started = await stage({
      ...local,
      env: { A2A_SERVER_TOKENS: `acme/ann=${ann},acme/bob=${bob},beta/eve=${eve}` },
    });
    const as = (token = '') => new A2aPeer({ url: started.server.url, token });
    const before = { ...started, peer: as(ann) };
    const task = await parked(before);
    const { taskId } = task;
    await before.peer.call('CreateTaskPushNotificationConfig', { taskId, url: receiver.url });
    await receiver.until(() => receiver.notifications.length === 1);
    receiver.reply = 500;
    await approve(before, task);
    while ((await failing(as(bob))).length === 0);
    await before.server.kill();
    await failedSinceDays(before.server, 2);

    const { server } = await stageAgain(before);
    const at = (token = '') => new A2aPeer({ url: server.url, token });
    await server.logged(/it gets nothing more/);
    const dead = {
      state: 'dead',
      receiver: receiver.host,
      taskId,
      principal: 'acme/ann',
      problem: 'it answered with HTTP 500',
    };
    const [found] = await failing(at(bob));
    expect(found).toMatchObject(dead);
    expect(Date.now() - Date.parse(found?.since ?? '')).toBeGreaterThan(86_400_000);
    expect(await failing(at(eve))).toEqual([]);
    const retry = (token?: string) => at(token).request(`/api/push/retry/${found?.id}`, { body: '' });
    expect((await retry(eve)).status).toBe(404);
    const command = (...args: string[]) => serverCommand(server, args);
    expect(failingList.parse(JSON.parse(await command('push', 'failing', '--json'))).receivers).toMatchObject(
      [dead],
    );
    // The receiver still fails, so the server tries again for another day.
    expect(await command('push', 'retry', found?.id.slice(0, 8) ?? '')).toContain(receiver.host);
    while ((await failing(at(bob)))[0]?.state !== 'retrying');
    expect((await retry(bob)).status).toBe(200);
    receiver.reply = 204;
    await receiver.until(ended(receiver));
    const history = await at(ann).history(taskId);
    const first = Number(receiver.notifications[0]?.event.seq);
    expect(seqs(receiver)).toEqual([first, ...history.map(({ seq }) => seq).filter((seq) => seq > first)]);
    const audited = (await command('audit', '--json')).split('\n').filter((line) => line.includes('push.'));
    const act = { act: 'push.retried', taskId, receiver: receiver.host, principal: 'acme/ann' };
    expect(audited.map((line): unknown => JSON.parse(line))).toMatchObject([act, { ...act, by: 'acme/bob' }]);
  });

  it('a chat of the operator gets a message about each task of a tenant that waits or has ended, also after a kill', async () => {
    const receiver = await receiving();
    const [ann, eve] = ['ann', 'eve'].map((name) => `${name}-${'0123456789'.repeat(3)}`);
    const config = join(await temporaryDirectory(), 'config.json');
    const chat = {
      format: 'slack',
      url: receiver.url,
      tenant: 'acme',
      afterSeconds: 0,
      tokenEnv: 'CHAT_TOKEN',
    };
    await writeFile(config, JSON.stringify({ server: { chatWebhooks: [chat] } }));
    const started = await stage({
      args: ['--config', config],
      env: { A2A_SERVER_TOKENS: `acme/ann=${ann},beta/eve=${eve}`, CHAT_TOKEN: 'token-of-the-chat' },
    });
    const as = (token = '') => new A2aPeer({ url: started.server.url, token });
    const before = { ...started, peer: as(ann) };
    await parked({ ...started, peer: as(eve) });
    const task = await parked(before);
    await receiver.until(() => receiver.notifications.length === 1);
    // A task that waits costs no record.
    while ((await readdir(join(started.server.stateDir, 'push'))).length > 0);
    receiver.reply = 500;
    await approve(before, task);
    await receiver.until(() => receiver.refused > 0);
    await before.server.kill();
    receiver.reply = 204;
    const { server } = await stageAgain(before);
    await receiver.until(() => receiver.notifications.length === 2);
    const [waits, over] = receiver.notifications.map(({ body }): unknown => JSON.parse(body));
    expect(waits).toMatchObject({ text: 'A task waits for a decision' });
    expect(over).toMatchObject({ text: 'A task has ended: completed' });
    for (const [index, message] of [waits, over].entries()) {
      const page = `<${[started, { server }][index]?.server.url}/page#task=${task.taskId}|`;
      expect(JSON.stringify(message)).toContain(page);
      expect(JSON.stringify(message)).toContain('acme/ann');
    }
    expect(JSON.stringify(waits)).toContain('effects.txt');
    // D5: a chat gets no code of an action, so nobody can decide there.
    expect(JSON.stringify(waits)).not.toContain(task.pending[0]?.shown);
    for (const { headers } of receiver.notifications) {
      expect(headers.authorization).toBe('Bearer token-of-the-chat');
      expect(Object.keys(headers).filter((name) => name.startsWith('x-a2a'))).toEqual([]);
    }
    expect(server.log()).not.toMatch(/key=secret|token-of-the-chat/);
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
