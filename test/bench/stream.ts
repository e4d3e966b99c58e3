/**
 * Measures a stream of short text chunks from the JSON-RPC endpoint to the SDK's client. The same client also reads
 * the same frames from a server that only streams. In the real server, each chunk comes from a model and is in the
 * journal before it is sent. The time includes the start of the task.
 */
import { StreamResponse } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { cardOf, chunkOf, clientFor, saying, startAgent } from './agent.ts';
import type { BenchContext, Benchmark, Figure } from './benchmark.ts';
import { ownProgram, startProgram } from './child-program.ts';
import { median, medianOf } from './statistics.ts';

const CHUNK = 'a few words of an answer ';

/** Short streams run more often, because noise of the machine affects a short stream more. */
const SIZES = [
  { chunks: 1_000, rounds: 21 },
  { chunks: 10_000, rounds: 11 },
  { chunks: 100_000, rounds: 5 },
] as const;
/** Frames before the measurement, so that both servers and the client run compiled code. */
const WARM_UP = 20_000;

const RATIO_AIM = 0.4;
const FLAT_AIM = 0.8;

export const stream: Benchmark = {
  id: 'stream',
  title: 'stream of n short text chunks, journalled, to the SDK client, against a bare SSE stream',
  async run(context) {
    const agent = await startAgent(context);
    const bare = await startProgram({ script: ownProgram('bare-stream') });
    try {
      const card = await cardOf(agent.url);
      const server = await clientFor(card, agent.token);
      const other = await clientFor(card, agent.token, bare.said);
      const frame = await sampleFrame(server);
      const measure = async (count: number): Promise<Round> => ({
        server: await rate(server, plan(count), count),
        bare: await rate(other, { data: { frame, count } }, count),
      });
      await measure(WARM_UP);
      return await figures(context, measure);
    } finally {
      await bare.stop();
      await agent.program.stop();
    }
  },
};

/** The rates of one round, in events per second. */
interface Round {
  server: number;
  bare: number;
}

async function figures(
  { note }: BenchContext,
  measure: (count: number) => Promise<Round>,
): Promise<Figure[]> {
  const found: Figure[] = [];
  const rates: number[] = [];
  for (const { chunks, rounds } of SIZES) {
    const measured: Round[] = [];
    while (measured.length < rounds) measured.push(await measure(chunks));
    const n = `n = ${chunks.toLocaleString('en')}`;
    note(`stream, ${n}: done`);
    const server = median(measured.map((round) => round.server));
    rates.push(server);
    found.push(
      {
        name: `${n}: to the bare stream`,
        ...medianOf(measured.map((round) => round.server / round.bare)),
        unit: 'ratio',
        aim: { at: 'least', value: RATIO_AIM },
      },
      { name: `${n}: server`, value: server, unit: 'events/s' },
      { name: `${n}: bare stream`, ...medianOf(measured.map((round) => round.bare)), unit: 'events/s' },
    );
  }
  const [shortest, , longest] = rates;
  if (shortest !== undefined && longest !== undefined)
    found.push({
      name: 'rate at n = 100,000 to the rate at n = 1,000',
      value: longest / shortest,
      unit: 'ratio',
      aim: { at: 'least', value: FLAT_AIM },
    });
  return found;
}

function plan(chunks: number): { text: string } {
  return { text: JSON.stringify({ plan: [{ say: CHUNK, repeat: chunks }] }) };
}

/** Reads the event of one chunk, as the server sends it. */
async function sampleFrame(client: Client): Promise<unknown> {
  for await (const event of client.sendMessageStream(saying(plan(1))))
    if (chunkOf(event) === CHUNK) return StreamResponse.toJSON(event);
  throw new Error('the server sent no chunk');
}

async function rate(
  client: Client,
  said: { text: string } | { data: unknown },
  count: number,
): Promise<number> {
  let heard = 0;
  const began = performance.now();
  for await (const event of client.sendMessageStream(saying(said))) if (chunkOf(event) === CHUNK) heard += 1;
  const took = performance.now() - began;
  if (heard !== count) throw new Error(`${heard} of ${count} chunks arrived`);
  return (count / took) * 1_000;
}
