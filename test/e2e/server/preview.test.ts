/** Tests the preview of A2A 1.1 on a real server that is killed: its clients continue with the generations they know. */
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { append, plan } from '../../support/offline-plan.ts';
import type { ServerProcess } from '../../support/server-process.ts';
import { sseFrames } from '../../support/sse-frame.ts';
import { stage, stageAgain } from '../../support/stage.ts';

const taskSchema = z.object({
  id: z.string(),
  generation: z.string(),
  status: z.object({ state: z.string() }),
});
const sent = z.object({ task: taskSchema });

function call(
  { url, token }: ServerProcess,
  path: string,
  { body, headers }: { body?: object; headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'a2a-version': '1.0',
      'content-type': 'application/json',
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
}

function send(server: ServerProcess, text: string, more: { taskId?: string; match?: number } = {}) {
  const { taskId, match } = more;
  const message = { messageId: text + String(match), role: 'ROLE_USER', parts: [{ text }], taskId };
  return call(server, '/message:send', { body: { message, configuration: { ifGenerationMatch: match } } });
}

/** Reads the events after a generation, up to the one with the number `last`, or to the end of the stream. */
async function replay(server: ServerProcess, taskId: string, after: number, last?: number) {
  const headers = { 'last-event-id': String(after) };
  const { body } = await call(server, `/tasks/${taskId}:subscribe`, { headers });
  if (body === null) throw new Error('no stream');
  const events: { id: string | undefined; data: string }[] = [];
  for await (const { id, data } of sseFrames(body)) {
    events.push({ id, data });
    if (id === String(last)) break;
  }
  return events;
}

it('R20 R25 the generations of a task are the same after a kill, for a replay, a long-poll and a guarded decision', async () => {
  const first = await stage({ args: ['--preview', 'a2a-1.1'] });
  const text = plan({ say: 'We begin.' }, append('effects.txt', 'one'), { say: 'We end.' });
  const parked = sent.parse(await (await send(first.server, text)).json()).task;
  const taskId = parked.id;
  const at = Number(parked.generation);
  const before = await replay(first.server, taskId, 0, at);
  expect(before.map(({ id }) => id)).toEqual(before.map((_, index) => String(index + 1)));
  await first.server.kill();

  const { server, file } = await stageAgain(first);
  expect(await replay(server, taskId, 0, at)).toEqual(before);
  const polling = call(server, `/tasks/${taskId}?currentGeneration=${at}`);
  const outdated = await send(server, 'approve', { taskId, match: at - 1 });
  expect([outdated.status, await outdated.text()]).toEqual([
    409,
    expect.stringContaining(`"currentGeneration":"${at}"`),
  ]);
  expect(await file('effects.txt')).toBeUndefined();
  expect((await send(server, 'approve', { taskId, match: at })).status).toBe(200);
  const polled = taskSchema.parse(await (await polling).json());
  expect(Number(polled.generation)).toBeGreaterThan(at);
  const rest = await replay(server, taskId, at);
  expect(rest.map(({ id }) => id)).toEqual(rest.map((_, index) => String(at + index + 1)));
  expect(rest.at(-1)?.data).toContain('TASK_STATE_COMPLETED');
  expect(await replay(server, taskId, 0)).toEqual([...before, ...rest]);
  expect(await file('effects.txt')).toBe('one');
});
