/**
 * Measures the time from a cancel to its answer, which says that the task has ended. Covers waiting tasks among few
 * and among many others, and tasks whose model is answering. For those it also measures the end of the connection to
 * the model.
 */
import { TaskState } from '@a2a-js/sdk';
import type { StreamResponse } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { COMPATIBLE_URL_VARIABLE } from '../../a2a-server/models/model-settings.ts';
import { startFakeModelEndpoint } from '../support/fake-model-endpoint.ts';
import { parkedTaskId } from '../support/parked-tasks.ts';
import { cardOf, chunkOf, clientFor, saying, startAgent } from './agent.ts';
import type { Agent } from './agent.ts';
import type { BenchContext, Benchmark, Figure } from './benchmark.ts';
import { withParked } from './parked.ts';
import { median, medianOf, quantileOf } from './statistics.ts';

const SAMPLES = 200;
/** The first samples are discarded, because Node still compiles code. */
const WARM_UP = 20;
const PARKED = 10_000;
/** The provider sends this number of frames, and never ends its answer. */
const BEGINNING = 2;

export const cancel: Benchmark = {
  id: 'cancel',
  title: 'cancel of a task, parked or asking its model',
  async run(context) {
    const few = await cancelParked(context, WARM_UP + SAMPLES);
    context.note(`cancel: adding ${PARKED} tasks …`);
    const many = await cancelParked(context, PARKED);
    const { answers, connections } = await cancelModelCalls(context);
    return [
      ...both(`a parked task, of ${WARM_UP + SAMPLES}`, few),
      ...both(`a parked task, of ${PARKED}`, many),
      {
        name: `medians, ${PARKED} to ${WARM_UP + SAMPLES}`,
        value: median(many) / median(few),
        unit: 'ratio',
      },
      ...both('a running model call', answers),
      ...both("a running model call, to the end of its provider's connection", connections),
    ];
  },
};

function both(what: string, values: readonly number[]): Figure[] {
  return [
    { name: `${what}, median`, ...medianOf(values), unit: 'ms' },
    { name: `${what}, p99`, ...quantileOf(values, 0.99), unit: 'ms' },
  ];
}

async function cancelParked(context: BenchContext, count: number): Promise<number[]> {
  const agent = await startAgent(context, { state: await withParked(context, count) });
  const client = await clientOf(agent);
  try {
    const times: number[] = [];
    while (times.length < WARM_UP + SAMPLES) times.push(await canceled(client, parkedTaskId(times.length)));
    return times.slice(WARM_UP);
  } finally {
    await agent.program.stop();
  }
}

interface ModelCalls {
  answers: number[];
  connections: number[];
}

async function cancelModelCalls(context: BenchContext): Promise<ModelCalls> {
  const endpoint = await startFakeModelEndpoint();
  const agent = await startAgent(context, {
    args: ['--model=openai-compatible:endless'],
    env: { [COMPATIBLE_URL_VARIABLE]: `${endpoint.url}/v1` },
  });
  const client = await clientOf(agent);
  const [answers, connections]: [number[], number[]] = [[], []];
  try {
    for (let sample = 0; sample < WARM_UP + SAMPLES; sample += 1) {
      endpoint.script({
        type: 'turn',
        turn: { text: ['I ', 'think ', 'on.'] },
        cut: { frames: BEGINNING, ending: 'silence' },
      });
      const asked = endpoint.nextRequest();
      const stream = client.sendMessageStream(saying({ text: 'Think.' }));
      const taskId = await taskThatSpeaks(stream);
      const { closedEarly } = await asked;
      const began = performance.now();
      const closed = closedEarly.then(() => performance.now() - began);
      const answered = await canceled(client, taskId);
      for await (const event of stream) void event;
      if (sample >= WARM_UP) answers.push(answered);
      if (sample >= WARM_UP) connections.push(await closed);
    }
    return { answers, connections };
  } finally {
    await agent.program.stop();
    await endpoint.close();
  }
}

async function clientOf({ url, token }: Agent): Promise<Client> {
  return clientFor(await cardOf(url), token);
}

/** Reads the stream until its first text. @returns the id of the task */
async function taskThatSpeaks(stream: AsyncGenerator<StreamResponse>): Promise<string> {
  for (;;) {
    const { value, done } = await stream.next();
    if (done) throw new Error('the model said nothing');
    if (chunkOf(value) !== undefined && value.payload?.$case === 'artifactUpdate')
      return value.payload.value.taskId;
  }
}

async function canceled(client: Client, id: string): Promise<number> {
  const began = performance.now();
  const { status } = await client.cancelTask({ tenant: '', id, metadata: { reason: 'measured' } });
  if (status?.state !== TaskState.TASK_STATE_CANCELED) throw new Error(`${id} is not canceled`);
  return performance.now() - began;
}
