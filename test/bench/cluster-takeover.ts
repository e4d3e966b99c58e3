/** Measures how long a task stands still after its server was killed: until another server has appended to it. */
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import {
  RESUMABLE_STREAM_EXTENSION,
  streamPositionSchema,
} from '../../shared/protocol/resumable-stream-extension.ts';
import { resultOf, rpcBody } from '../support/rpc-answer.ts';
import { activityOf, cardOf, clientFor, saying, WITH_APPROVAL, type Agent } from './agent.ts';
import type { BenchContext, Figure } from './benchmark.ts';
import type { StartServers } from './cluster.ts';
import { medianOf, quantileOf } from './statistics.ts';

const SAMPLES = 20;
const LOOK_MS = 20;
const AIM_MS = 5_000;

export async function measureTakeover(
  { note }: BenchContext,
  start: StartServers,
  url: string,
): Promise<Figure[]> {
  const [survivor] = await start(1, url);
  if (survivor === undefined) throw new Error('no server has started');
  const times: number[] = [];
  try {
    while (times.length < SAMPLES) times.push(await takeover(start, url, survivor));
  } finally {
    await survivor.program.stop();
  }
  note('cluster: takeovers done');
  return [
    { name: 'SIGKILL → another server continues the task, median', ...medianOf(times), unit: 'ms' },
    {
      name: `SIGKILL → another server continues the task, longest of ${SAMPLES}`,
      ...quantileOf(times, 1),
      unit: 'ms',
      aim: { at: 'most', value: AIM_MS },
    },
  ];
}

/** Kills the server that runs a call of the tool `wait`. @returns milliseconds */
async function takeover(start: StartServers, url: string, survivor: Agent): Promise<number> {
  const [owner] = await start(1, url);
  if (owner === undefined) throw new Error('no server has started');
  const taskId = await waitingTask(owner);
  const before = await seqOf(survivor, taskId);
  await owner.program.stop('SIGKILL');
  const killed = performance.now();
  while ((await seqOf(survivor, taskId)) <= before) await wait(LOOK_MS);
  const took = performance.now() - killed;
  const client = await clientFor(await cardOf(survivor.url), survivor.token, survivor.url);
  await client.cancelTask({ tenant: '', id: taskId, metadata: undefined });
  return took;
}

/** Starts a task, and returns its id when its tool runs. */
async function waitingTask(agent: Agent): Promise<string> {
  const client = await clientFor(await cardOf(agent.url), agent.token, agent.url);
  const text = JSON.stringify({ plan: [{ tool: 'wait', input: { seconds: 600 } }] });
  for await (const event of client.sendMessageStream(saying({ text }), WITH_APPROVAL))
    if (activityOf(event)?.type === 'tool.started' && event.payload?.$case === 'statusUpdate')
      return event.payload.value.taskId;
  throw new Error('the tool did not start');
}

const positioned = z.object({ metadata: z.object({ [RESUMABLE_STREAM_EXTENSION]: streamPositionSchema }) });

async function seqOf({ url, token }: Agent, taskId: string): Promise<number> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'a2a-version': '1.0',
      'a2a-extensions': RESUMABLE_STREAM_EXTENSION,
    },
    body: rpcBody('GetTask', { id: taskId }),
  });
  return positioned.parse(resultOf(await answer.json())).metadata[RESUMABLE_STREAM_EXTENSION].seq;
}
