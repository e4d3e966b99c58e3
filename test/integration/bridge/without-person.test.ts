/** Tests clients that cannot ask a person, and actions that a person decides over another channel. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { FakeAgent } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import {
  APPROVE_ONE,
  CHECK,
  DECIDE,
  DELEGATE,
  bridgeStart,
  closing,
  program,
  startAgent,
} from './support/bridge-stage.ts';
import { type TasksClient, tasksClient } from './support/tasks-client.ts';

const PRINT_MODE = { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' };

const listed = z.object({
  tools: z.array(
    z.looseObject({
      name: z.string(),
      description: z.string(),
      inputSchema: z.looseObject({ properties: z.record(z.string(), z.unknown()) }),
      _meta: z.record(z.string(), z.unknown()),
    }),
  ),
});
const result = z.looseObject({
  content: z.array(z.object({ text: z.string() })),
  structuredContent: z.looseObject({ sessionId: z.string(), state: z.string(), next: z.string() }).optional(),
  isError: z.boolean().optional(),
});

const deciding = async (client: TasksClient) =>
  listed.parse((await client.ask('tools/list', {})).result).tools.find(({ name }) => name === DECIDE);
const call = async (client: TasksClient, name: string, args: object) =>
  result.parse((await client.ask('tools/call', { name, arguments: args })).result);

describe('R96 decisions with Claude Code as the client', () => {
  let agent: FakeAgent;
  beforeEach(async () => {
    agent = await startAgent({
      onMessage: (task) => task.work().ask(pendingWrite('one')),
      onDecisions: (task, [decision]) => task.work().say(`decided ${decision?.decision}`).complete(),
    });
  });

  async function clientWith(env: Record<string, string>, ...args: readonly string[]): Promise<TasksClient> {
    return closing(await tasksClient(program, await bridgeStart(agent, { args, env }), { tasks: false }));
  }
  test('in print mode, the deciding tool requires no person, and its decision counts', async () => {
    const client = await clientWith(PRINT_MODE);
    const tool = await deciding(client);
    expect(tool?.['_meta']).not.toHaveProperty('anthropic/requiresUserInteraction');
    const asked = await call(client, DELEGATE, { task: 'do it' });
    expect(asked.structuredContent).toMatchObject({ state: 'input_required' });
    const { sessionId } = asked.structuredContent ?? {};
    const done = await call(client, DECIDE, { sessionId, ...APPROVE_ONE });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'decided approve' });
  });

  test('in interactive mode, the deciding tool requires a person', async () => {
    const tool = await deciding(await clientWith({ CLAUDE_CODE_ENTRYPOINT: 'cli' }));
    expect(tool?.['_meta']).toMatchObject({ 'anthropic/requiresUserInteraction': true });
  });

  test('R96 the deciding tool has decision and title as its first arguments, and refuses the title of another action', async () => {
    const client = await clientWith({ CLAUDE_CODE_ENTRYPOINT: 'cli' }, '--fastest-answer-seconds', '60');
    const fields = Object.keys((await deciding(client))?.inputSchema.properties ?? {});
    expect(fields.slice(0, 5)).toEqual(['decision', 'title', 'sessionId', 'callId', 'shown']);
    const { sessionId } =
      (await call(client, DELEGATE, { task: 'do it', waitSeconds: 0 })).structuredContent ?? {};
    const approval = { decision: 'approve', sessionId, callId: 'one', shown: 'hash-of-one' };
    const { sessionId: _, ...one } = { ...approval, title: 'Write two.md' };
    for (const args of [approval, { ...approval, title: 'Write two.md' }, { sessionId, decisions: [one] }]) {
      const refused = await call(client, DECIDE, args);
      expect(refused.isError).toBe(true);
      expect(refused.content[0]?.text).toContain('Nothing was decided. The title is "Write one.md"');
      expect(refused.content[0]?.text).toContain('+hello');
    }
    expect(agent.decisions).toEqual([]);
    const done = await call(client, DECIDE, { ...approval, title: 'Write one.md' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'decided approve' });
  });

  test('with human-only in print mode, the bridge offers no deciding tool, and every result names the command line', async () => {
    const client = await clientWith(PRINT_MODE, '--approvals', 'human-only');
    expect(await deciding(client)).toBeUndefined();
    const asked = await call(client, DELEGATE, { task: 'do it' });
    const { sessionId = '', next } = asked.structuredContent ?? {};
    const line = `node ${program.script} `;
    expect(next).toContain(line);
    expect(next).toContain(' approve hash-of-one`');
    expect(asked.content[0]?.text).toContain(next);
    const { tools } = listed.parse((await client.ask('tools/list', {})).result);
    expect(JSON.stringify(tools)).not.toContain(DECIDE);
    expect(JSON.stringify(asked)).not.toContain(DECIDE);
    const another = await call(client, DELEGATE, { task: 'and that', sessionId });
    expect(another.isError).toBe(true);
    expect(JSON.stringify(another)).not.toContain(DECIDE);
    const looked = await call(client, CHECK, { sessionId });
    expect(looked.structuredContent?.next).toContain(line);
    expect(looked.structuredContent?.next).toContain(' show hash-of-one`');
    expect(JSON.stringify(looked)).not.toContain(DECIDE);
    const refused = await call(client, DECIDE, { sessionId, ...APPROVE_ONE });
    expect(refused.isError).toBe(true);
    expect(refused.content[0]?.text).toContain(line);
    expect(refused.content[0]?.text).toContain(' page`');
    expect(agent.decisions).toEqual([]);
  });
});
