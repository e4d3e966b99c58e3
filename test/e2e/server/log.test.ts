/** The server's log lines about its tasks. */
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { decisionOn } from '../../support/a2a-message.ts';
import { stage } from '../../support/stage.ts';

const line = z.looseObject({ time: z.number(), msg: z.string() });

it('a task logs a line for its start, its wait, each decision and its end, with ids and without its text', async () => {
  const { server, peer } = await stage();
  const { taskId, pending } = await (await peer.stream('append "SECRET" to a.txt')).parked();
  const decided = await peer.decide(taskId, [decisionOn(pending, 'deny', { reason: 'not today' })]);
  await decided.rest();
  await server.stop();
  const lines = server
    .log()
    .trim()
    .split('\n')
    .map((each) => line.parse(JSON.parse(each)));
  const callId = pending[0]?.callId;
  expect(lines.filter((each) => each['taskId'] === taskId)).toMatchObject([
    { msg: 'a task starts', principal: 'local', sessionId: expect.any(String) },
    { msg: 'a task waits for a person', callIds: [callId] },
    { msg: 'a person decided', callId, decision: 'deny', principal: 'local', reason: 'not today' },
    { msg: 'a task ended', state: 'completed' },
  ]);
  expect(server.log()).not.toContain('SECRET');
});
