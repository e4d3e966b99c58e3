/** Tests an EventSource, which reconnects by itself, also across a restart of the server. */
import { afterEach, expect, it } from '@jest/globals';
import { EventSource } from 'eventsource';
import { TcpProxy } from '../../faults/tcp-proxy.ts';
import { decisionOn } from '../../support/a2a-message.ts';
import { append, plan } from '../../support/offline-plan.ts';
import { stage, stageAgain } from '../../support/stage.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

it('R25 S1 an EventSource gets every event once across a kill -9 and a restart, and closes at the end', async () => {
  const before = await stage();
  // The proxy keeps its address while the server restarts.
  const proxy = await TcpProxy.listen();
  closers.push(() => proxy.close());
  proxy.target = Number(new URL(before.server.url).port);
  const { taskId } = await (await before.peer.stream(plan(append('a.txt', '1'), { say: 'Over.' }))).parked();

  // The ticket and the cursor stay valid across the restart.
  const answer = await before.peer.request(`/api/tasks/${taskId}/events/ticket`);
  let body = '';
  for await (const bytes of answer.body) body += bytes.toString();
  const ticket = /"ticket":"([^"]+)"/.exec(body)?.[1] ?? '';
  const source = new EventSource(`${proxy.url}/api/tasks/${taskId}/events?ticket=${ticket}`);
  closers.push(() => source.close());
  const ids: string[] = [];
  const asked = new Promise<void>((resolve) => {
    source.addEventListener('message', ({ lastEventId, data }) => {
      ids.push(lastEventId);
      if (String(data).includes('TASK_STATE_INPUT_REQUIRED')) resolve();
    });
  });
  const left = new Promise<number | undefined>((resolve) => {
    source.addEventListener('error', ({ code }) => {
      if (source.readyState === EventSource.CLOSED) resolve(code);
    });
  });
  await asked;
  await before.server.kill();
  const { server, peer } = await stageAgain(before);
  proxy.target = Number(new URL(server.url).port);
  const { pending } = await peer.task(taskId);
  await (await peer.decide(taskId, [decisionOn(pending, 'approve')])).rest();

  expect(await left).toBe(204);
  expect(ids).toEqual((await peer.history(taskId)).map(({ seq }) => String(seq)));
});
