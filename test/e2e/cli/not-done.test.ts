/** Tests that each list of sessions marks a completed task whose calls were denied. */
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { A2aClient } from '../../../shared/client/index.ts';
import { DECIDE, DELEGATE, LIST, startClient } from '../../integration/bridge/support/bridge-stage.ts';
import { textOf } from '../../integration/bridge/support/raw-client.ts';
import { actionOf } from '../../support/a2a-message.ts';
import { cliStage } from './support/cli-stage.ts';

const waiting = z.looseObject({
  sessionId: z.string(),
  pending: z.array(z.looseObject({ callId: z.string(), shown: z.string() })),
});

it('R100 each list marks a completed task whose only call was denied, and no other task', async () => {
  const on = await cliStage();
  const client = await startClient(on.server);
  const done = await on.peer.send('list .');
  const asked = await client.call(DELEGATE, { task: 'Create test.md with hello' });
  const { sessionId, pending } = waiting.parse(asked.structuredContent);
  const { callId, shown } = actionOf(pending);
  await client.call(DECIDE, { sessionId, callId, shown, decision: 'deny' });

  const notDone = 'not done: Write test.md (denied)';
  const later = await startClient(on.server);
  // The first bridge has read the task itself. The second bridge has read only the agent's list of tasks.
  for (const bridge of [client, later]) {
    const listed = await bridge.call(LIST, {});
    const lines = textOf(listed).split('\n');
    expect(lines.find((line) => line.includes(sessionId))).toContain(': completed, not all done — Create');
    expect(lines.find((line) => line.includes(done.sessionId))).toContain(': completed — list .');
    expect(listed.structuredContent?.['sessions']).toEqual([
      expect.objectContaining({ sessionId, state: 'completed', notDone }),
      expect.not.objectContaining({ notDone: expect.anything() }),
    ]);
  }

  const table = (await on.run('tasks')).stdout;
  expect(table).toMatch(/completed, not all done .*Create test\.md/);
  expect(table).toMatch(/completed {2,}.*list \./);
  expect(await on.json('tasks')).toMatchObject({ sessions: [{ notDone }, { notDone: '' }] });

  const { tasks } = await new A2aClient(on.server).tasks();
  expect(tasks).toMatchObject([{ sessionId, notDone }, { notDone: '' }]);
});
