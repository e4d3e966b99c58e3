/** Tests the server's log lines about its tasks. */
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { decisionOn } from '../../support/a2a-message.ts';
import { stage } from '../../support/stage.ts';

const line = z.looseObject({ time: z.number(), msg: z.string() });

const linesOf = (log: string) =>
  log
    .trim()
    .split('\n')
    .map((each) => line.parse(JSON.parse(each)));

it('the log has one line for a task’s start, its wait, each decision and its end, with ids and without the task’s text', async () => {
  const { server, peer } = await stage();
  const { taskId, pending } = await (await peer.stream('append "SECRET" to a.txt')).parked();
  const decided = await peer.decide(taskId, [decisionOn(pending, 'deny', { reason: 'not today' })]);
  await decided.rest();
  await server.stop();
  const lines = linesOf(server.log());
  const callId = pending[0]?.callId;
  expect(lines.filter((each) => each['taskId'] === taskId)).toMatchObject([
    { msg: 'a task starts', principal: 'local', sessionId: expect.any(String) },
    { msg: 'a task waits for a person', callIds: [callId] },
    { msg: 'a person decided', callId, decision: 'deny', principal: 'local', reason: 'not today' },
    { msg: 'a task ended', state: 'completed' },
  ]);
  expect(server.log()).not.toContain('SECRET');
});

it('the log has a debug line for the end of each request, with its method, its task and the reason', async () => {
  const { server, peer } = await stage({ args: ['--log-level', 'debug'] });
  const parked = await peer.stream('append "x" to a.txt');
  const { taskId, sessionId } = await parked.parked();
  await parked.rest();
  (await peer.follow(taskId)).connection.reset();
  await server.logged(/"reason":"client-gone"/);
  await peer.task(taskId);
  await peer.follow(taskId);
  await server.stop();
  const about = { method: 'POST', path: '/', status: 200, principal: 'local', taskId };
  expect(linesOf(server.log()).filter(({ msg }) => msg === 'a request is closed')).toMatchObject([
    { ...about, operation: 'SendStreamingMessage', sessionId, reason: 'answered' },
    { ...about, operation: 'SubscribeToTask', sessionId, reason: 'client-gone' },
    { ...about, operation: 'GetTask', reason: 'answered' },
    { ...about, operation: 'SubscribeToTask', sessionId, reason: 'server-shutdown' },
  ]);
});

it('the log has one line for a refused decision, message or cancel, with ids and a reason, and without text', async () => {
  const { server, peer } = await stage();
  const { taskId, pending } = await (await peer.stream('append "x" to a.txt')).parked();
  const decided = await peer.decide(taskId, [decisionOn(pending, 'deny')]);
  await decided.rest();
  const late = [decisionOn(pending, 'approve', { reason: 'SECRET' })];
  await expect(peer.decide(taskId, late)).rejects.toThrow('was decided before');
  await expect(peer.send('SECRET too', { taskId })).rejects.toThrow('has ended');
  await expect(peer.cancel(taskId)).rejects.toThrow('has ended');
  await server.stop();
  const about = { taskId, principal: 'local', channel: 'a2a' };
  expect(linesOf(server.log()).filter(({ msg }) => msg.endsWith('was refused'))).toMatchObject([
    { ...about, msg: 'a decision was refused', callIds: [pending[0]?.callId], reason: 'ALREADY_DECIDED' },
    { ...about, msg: 'a message was refused', messageId: expect.any(String), reason: 'TASK_ENDED' },
    { ...about, msg: 'a cancel was refused', reason: 'TASK_ENDED' },
  ]);
  expect(server.log()).not.toContain('SECRET');
});

it('R41 the log has one line for an abort request that stops nothing, with its id and its reason', async () => {
  const { server, peer } = await stage();
  await peer.abort('crawl-1623456789-abc123def', 'too slow');
  await server.stop();
  expect(linesOf(server.log())).toContainEqual(
    expect.objectContaining({
      msg: 'an abort request stopped nothing',
      toolId: 'crawl-1623456789-abc123def',
      principal: 'local',
      reason: 'too slow',
    }),
  );
});
