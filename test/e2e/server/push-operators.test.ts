/** Tests what an operator sees of push notifications: receivers that were given up, and messages to a chat. */
import { describe, expect, it } from '@jest/globals';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { A2aPeer } from '../../support/a2a-peer.ts';
import { approve, ended, local, parked, receiving, seqs, serverCommand } from '../../support/push-stage.ts';
import type { ServerHome } from '../../support/server-program.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { stage, stageAgain } from '../../support/stage.ts';
import { jsonOf } from '../../support/rpc-answer.ts';

const failingList = z.object({
  receivers: z.array(z.looseObject({ id: z.string(), state: z.string(), since: z.string() })),
});

async function failing(peer: A2aPeer) {
  const answer = await peer.request('/api/push/failing', { method: 'GET' });
  return failingList.parse(await jsonOf(answer)).receivers;
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

describe('push notifications for operators', () => {
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
});
