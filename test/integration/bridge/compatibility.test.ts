import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { FakeAgent } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { APPROVE_ONE, bridgeStart, program } from './support/bridge-stage.ts';
import { RawClient, sessionOf } from './support/raw-client.ts';

/** Tool names and parameters that configurations and prompts for gemini-cli's agent use. */
const NAMED = {
  gemini_delegate_task_to_assistant: { parameters: ['autoExecute'] },
  gemini_approve_or_deny_pending_action: { parameters: ['decision'] },
} as const;

const tools = z.object({
  tools: z.array(
    z.looseObject({
      name: z.string(),
      inputSchema: z.looseObject({
        properties: z.record(z.string(), z.unknown()),
        required: z.array(z.string()).default([]),
      }),
    }),
  ),
});

describe('the bridge with --tool-prefix gemini_', () => {
  let agent: FakeAgent;
  let client: RawClient;

  beforeAll(async () => {
    agent = await FakeAgent.start({
      onMessage: (task) => task.work().ask(pendingWrite('one')),
      onDecisions: (task) => task.work().say('written').complete(),
    });
    client = await RawClient.start(program, await bridgeStart(agent, { args: ['--tool-prefix', 'gemini_'] }));
  });
  afterAll(async () => {
    await client.kill();
    await agent.stop();
  });

  test('the tools have the names and parameters of existing gemini configurations, and each name has the prefix', async () => {
    const listed = tools.parse((await client.request('tools/list', {})).result).tools;
    const byName = new Map(listed.map((tool) => [tool.name, tool.inputSchema]));
    for (const [name, { parameters }] of Object.entries(NAMED))
      expect(Object.keys(byName.get(name)?.properties ?? {})).toEqual(
        expect.arrayContaining([...parameters]),
      );
    expect([...byName.keys()].filter((name) => !name.startsWith('gemini_'))).toEqual([]);
    expect(byName.get('gemini_delegate_task_to_assistant')?.required).toEqual(['task']);
  });

  test('the tool list has less than 20,000 bytes, because many clients put it into the context of their model', async () => {
    const { result } = await client.request('tools/list', {});
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(20_000);
  });

  test('a task without autoExecute waits for "approve", and then its state is "completed"', async () => {
    const asked = await client.call('gemini_delegate_task_to_assistant', {
      task: 'Create test.md with hello',
    });
    expect(asked.structuredContent).toMatchObject({ state: 'input_required', pending: [{ callId: 'one' }] });
    const done = await client.call('gemini_approve_or_deny_pending_action', {
      sessionId: sessionOf(asked),
      ...APPROVE_ONE,
    });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'written' });
    expect(agent.decisions).toMatchObject([{ callId: 'one', shown: 'hash-of-one', decision: 'approve' }]);
  });
});
