/**
 * Tests readers that never read a task with tens of megabytes of events. Measures the cost for the process and for
 * other readers.
 */
import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { residentMb } from '../../bench/memory.ts';
import type { A2aPeer } from '../../support/a2a-peer.ts';
import { rpcBody } from '../../support/rpc-answer.ts';
import { plan } from '../../support/offline-plan.ts';
import { stage } from '../../support/stage.ts';

const DEAF = 20;
const CHUNK = 1_000;
const CHUNKS = 50_000;
const TASK_MB = (CHUNK * CHUNKS) / 2 ** 20;

const TEXT = plan({ say: 'x'.repeat(CHUNK), repeat: CHUNKS });

/** Sends the message, and reads as fast as possible. @returns the amount of text, in MB */
async function readAlong(peer: A2aPeer, begun: (taskId: string) => Promise<void>): Promise<number> {
  const stream = await peer.stream(TEXT);
  const first = await stream.next();
  await begun(first?.taskId ?? '');
  let characters = 0;
  for (let event = await stream.next(); event; event = await stream.next()) {
    if (event.type === 'text') characters += event.text.length;
    // The test drops the events, because it measures only the server's memory.
    stream.seen.length = 0;
  }
  return characters / 2 ** 20;
}

/** Requests the task's stream over one of the routes, and reads nothing of the response. */
async function followDeaf(peer: A2aPeer, taskId: string, n: number): Promise<void> {
  const connection = await peer.connect();
  const cursor = { 'Last-Event-ID': '0' };
  if (n % 3 === 0)
    peer.write(connection, '/', { headers: cursor, body: rpcBody('SubscribeToTask', { id: taskId }) });
  else
    peer.write(connection, n % 3 === 1 ? `/tasks/${taskId}:subscribe` : `/api/tasks/${taskId}/events`, {
      method: 'GET',
      headers: cursor,
    });
}

it('S3 twenty readers that do not read cost the server less than a tenth of each reader’s events, and another reader gets all events', async () => {
  const { server, peer } = await stage();
  const { pid } = z
    .looseObject({ pid: z.number() })
    .parse(JSON.parse(await readFile(join(server.stateDir, 'server.json'), 'utf8')));
  expect(await readAlong(peer, () => Promise.resolve())).toBe(TASK_MB);
  const alone = await residentMb(pid);
  const read = await readAlong(peer, async (taskId) => {
    for (let n = 0; n < DEAF; n += 1) await followDeaf(peer, taskId, n);
  });
  expect(read).toBe(TASK_MB);
  const beside = await residentMb(pid);
  expect(beside - alone).toBeLessThan((DEAF * TASK_MB) / 10);
  // The server must still serve.
  expect((await peer.send('say hello')).state).toBe('COMPLETED');
  // The readers of a hundred megabytes share the machine with other tests. The test does not wait for this time.
}, 240_000);
