/** Tests which requests register, keep and end the address of a receiver of push notifications. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { decisionOn, decisionsPart, writtenMessage } from '../../support/a2a-message.ts';
import { A2aPeer } from '../../support/a2a-peer.ts';
import { append, plan } from '../../support/offline-plan.ts';
import { approve, ended, local, LOCAL, parked, receiving, serverCommand } from '../../support/push-stage.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import { stage } from '../../support/stage.ts';
import { jsonOf } from '../../support/rpc-answer.ts';

/** Returns a token for the settings. */
const longToken = (letter: string) => `${letter.repeat(39)}-own-token`;

describe('registrations for push notifications', () => {
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
});
