/** Measures many readers of one task, spread over all servers. One server executes the task. */
import { randomUUID } from 'node:crypto';
import { COMPATIBLE_URL_VARIABLE } from '../../a2a-server/models/model-settings.ts';
import { rpcBody } from '../support/rpc-answer.ts';
import type { BenchContext, Figure } from './benchmark.ts';
import { ownProgram, startProgram } from './child-program.ts';
import type { StartServers } from './cluster.ts';
import { stampedStream } from './stamped-stream.ts';
import { medianOf, quantileOf } from './statistics.ts';

const READERS = 1_000;
const CHUNKS = 100;
const EVERY_MS = 100;

export async function measureReaders(
  { note }: BenchContext,
  start: StartServers,
  { servers, url }: { servers: number; url: string },
): Promise<Figure[]> {
  const model = await startProgram({ script: ownProgram('paced-model') });
  const agents = await start(servers, url, {
    args: ['--model=openai-compatible:paced'],
    env: { [COMPATIBLE_URL_VARIABLE]: `${model.said}/v1` },
  });
  try {
    const [owner] = agents;
    if (owner === undefined) throw new Error('no server has started');
    const text = `pace ${CHUNKS} ${EVERY_MS}`;
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
    const one = stampedStream(owner, { path: '/', body: rpcBody('SendStreamingMessage', { message }) });
    const path = `/tasks/${await one.taskId}:subscribe`;
    const streams = Array.from({ length: READERS }, (_, index) =>
      stampedStream(agents[index % agents.length] ?? owner, { path }),
    );
    await Promise.all(streams.map(({ taskId }) => taskId));
    await fetch(`${model.said}/go?held=1`, { method: 'POST' });
    const ends = await Promise.allSettled(streams.map(({ delays }) => delays));
    const read = ends.map((end) => (end.status === 'fulfilled' ? end.value : []));
    const delays = read.flat();
    const who = `${READERS} readers of one task over ${servers} servers`;
    note(`cluster: ${who} done`);
    return [
      {
        name: `${who}: failures`,
        value: read.filter(({ length }) => length !== CHUNKS).length,
        unit: 'count',
        aim: { at: 'most', value: 0 },
      },
      { name: `${who}: model → reader, median`, ...medianOf(delays), unit: 'ms' },
      { name: `${who}: model → reader, p99`, ...quantileOf(delays, 0.99), unit: 'ms' },
    ];
  } finally {
    await Promise.all(agents.map(({ program }) => program.stop()));
    await model.stop();
  }
}
