/**
 * From the sending of an approval to the event, in that request's own stream, that says the tool has started. In between
 * the decision and the start are made durable, one after the other. A bare HTTP round trip is measured beside it.
 */
import type { StreamResponse } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { z } from 'zod';
import { activity, pendingPart, TOOL_APPROVAL } from '../../shared/protocol/tool-approval.ts';
import { cardOf, clientFor, saying, startAgent, WITH_APPROVAL } from './agent.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { ownProgram, startProgram } from './child-program.ts';
import { median, quantile } from './statistics.ts';

const TASKS = 16;
const APPROVALS_PER_TASK = 25;
/** Tasks that are not counted: code is compiled in them. */
const WARM_UP_TASKS = 2;

const MEDIAN_AIM_MS = 5;
const P99_AIM_MS = 20;

export const approval: Benchmark = {
  id: 'approval',
  title: 'approval → tool started, against a bare HTTP round trip',
  async run(context) {
    const agent = await startAgent(context);
    const echo = await startProgram({ script: ownProgram('echo') });
    try {
      const client = await clientFor(await cardOf(agent.url), agent.token);
      const samples: Sample[] = [];
      for (let task = 0; task < WARM_UP_TASKS + TASKS; task += 1) {
        const measured = await approveAll(client, echo.said);
        if (task >= WARM_UP_TASKS) samples.push(...measured);
      }
      context.note(`approval: ${samples.length} samples`);
      return figures(samples);
    } finally {
      await echo.stop();
      await agent.program.stop();
    }
  },
};

/** Milliseconds. */
interface Sample {
  started: number;
  roundTrip: number;
}

function figures(samples: readonly Sample[]): Figure[] {
  const started = samples.map((sample) => sample.started);
  const roundTrips = samples.map((sample) => sample.roundTrip);
  return [
    {
      name: 'approval → tool started, median',
      value: median(started),
      unit: 'ms',
      aim: { at: 'most', value: MEDIAN_AIM_MS },
    },
    {
      name: 'approval → tool started, p99',
      value: quantile(started, 0.99),
      unit: 'ms',
      aim: { at: 'most', value: P99_AIM_MS },
    },
    { name: 'bare HTTP round trip, median', value: median(roundTrips), unit: 'ms' },
    { name: 'bare HTTP round trip, p99', value: quantile(roundTrips, 0.99), unit: 'ms' },
    { name: 'medians', value: median(started) / median(roundTrips), unit: 'ratio' },
  ];
}

/** One task that asks for one approval after another. */
async function approveAll(client: Client, echoUrl: string): Promise<Sample[]> {
  const call = { tool: 'append-file', input: { path: 'log.txt', content: 'one more line\n' } };
  const plan = { plan: Array.from({ length: APPROVALS_PER_TASK }, () => call) };
  let waiting = await lastWaiting(
    client.sendMessageStream(saying({ text: JSON.stringify(plan) }), WITH_APPROVAL),
  );
  const samples: Sample[] = [];
  while (waiting !== undefined) {
    const { taskId, callId } = waiting;
    const roundTrip = await echoed(echoUrl);
    const began = performance.now();
    const events = client.sendMessageStream(
      saying({
        taskId,
        data: { extension: TOOL_APPROVAL, decisions: [{ callId, decision: 'approve' }] },
      }),
      WITH_APPROVAL,
    );
    let started: number | undefined;
    waiting = await lastWaiting(events, (event) => {
      if (activityIn(event)?.type === 'tool.started') started ??= performance.now() - began;
    });
    if (started === undefined) throw new Error('the tool did not start');
    samples.push({ started, roundTrip });
  }
  if (samples.length !== APPROVALS_PER_TASK) throw new Error(`${samples.length} calls were asked for`);
  return samples;
}

interface Waiting {
  taskId: string;
  callId: string;
}

/** Reads a stream to its end. @returns the call the task waits for then, if it waits. */
async function lastWaiting(
  events: AsyncIterable<StreamResponse>,
  seen: (event: StreamResponse) => void = () => undefined,
): Promise<Waiting | undefined> {
  let waiting: Waiting | undefined;
  for await (const event of events) {
    seen(event);
    waiting = waitingIn(event);
  }
  return waiting;
}

function waitingIn({ payload }: StreamResponse): Waiting | undefined {
  if (payload?.$case !== 'statusUpdate') return undefined;
  const { taskId, status } = payload.value;
  for (const { content } of status?.message?.parts ?? []) {
    const part = pendingPart.safeParse(content?.$case === 'data' ? content.value : undefined);
    const callId = part.data?.pending[0]?.callId;
    if (callId !== undefined) return { taskId, callId };
  }
  return undefined;
}

const activityMetadata = z.object({ [TOOL_APPROVAL]: z.object({ activity }) });

function activityIn({ payload }: StreamResponse): z.infer<typeof activity> | undefined {
  if (payload?.$case !== 'statusUpdate') return undefined;
  return activityMetadata.safeParse(payload.value.metadata).data?.[TOOL_APPROVAL].activity;
}

async function echoed(url: string): Promise<number> {
  const began = performance.now();
  const response = await fetch(url, { method: 'POST', body: '{"decision":"approve"}' });
  await response.text();
  return performance.now() - began;
}
