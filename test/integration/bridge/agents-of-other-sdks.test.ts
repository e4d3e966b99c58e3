/** Agents that use other SDKs than the bridge, or the older A2A 0.3, as these agents really behave. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { type Message, Role, TaskState } from '@a2a-js/sdk';
import type { AgentExecutor } from '@a2a-js/sdk/server';
import { plainAgent } from '../../support/fake-agent-plain.ts';
import { firstTask, part } from '../../support/fake-agent-task.ts';
import { DELEGATE, program, stateDirectory } from './support/bridge-stage.ts';
import { RawClient } from './support/raw-client.ts';

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function bridgeTo(agent: { url: string; stop: () => Promise<unknown> }): Promise<RawClient> {
  cleanUps.push(agent.stop);
  const client = await RawClient.start(program, { stateDir: await stateDirectory(), agentUrl: agent.url });
  cleanUps.push(() => client.kill());
  return client;
}

interface Ids {
  taskId: string;
  contextId: string;
}

type Event = Parameters<Parameters<AgentExecutor['execute']>[1]['publish']>[0];

/** An agent that sends these events for each message, after the task itself. */
function sending(eventsOf: (ids: Ids) => readonly Event[]): AgentExecutor {
  return {
    execute({ taskId, contextId, userMessage }, bus) {
      const ids = { taskId, contextId };
      bus.publish({ kind: 'task', data: firstTask({ ...ids, userMessage }, TaskState.TASK_STATE_WORKING) });
      for (const event of eventsOf(ids)) bus.publish(event);
      bus.finished();
      return Promise.resolve();
    },
    cancelTask: () => Promise.resolve(),
  };
}

/** @param text the text of the message in the status; undefined if it has no message */
function status(ids: Ids, state: TaskState, text?: string): Event {
  const message = text === undefined ? undefined : agentMessage(ids, text);
  const timestamp = new Date().toISOString();
  return {
    kind: 'statusUpdate',
    data: { ...ids, status: { state, timestamp, message }, metadata: undefined },
  };
}

function agentMessage(ids: Ids, value: string): Message {
  return {
    messageId: randomUUID(),
    ...ids,
    role: Role.ROLE_AGENT,
    parts: [part({ $case: 'text', value })],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}
describe.each(['1.0', '0.3'] as const)(
  'an agent of A2A %s that answers in a status, like the agents of Microsoft Agent Framework',
  (version) => {
    test('the result is its last message', async () => {
      const executor = sending((ids) => [
        status(ids, TaskState.TASK_STATE_WORKING, 'I look it up.'),
        status(ids, TaskState.TASK_STATE_WORKING, 'It is 42.'),
        status(ids, TaskState.TASK_STATE_COMPLETED),
      ]);
      const client = await bridgeTo(await plainAgent(version, { executor }));
      const done = await client.call(DELEGATE, { task: 'What is it?' });
      expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'It is 42.' });
    });
  },
);
