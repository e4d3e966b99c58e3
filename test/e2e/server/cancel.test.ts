/** Tests cancels of tasks in every state. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { decisionOn } from '../../support/a2a-message.ts';
import { jsonOf, refusal } from '../../support/rpc-answer.ts';
import type { FakeModelEndpoint } from '../../support/fake-model-endpoint.ts';
import { untilFileContains } from '../../support/file-watch.ts';
import { append, plan, shell } from '../../support/offline-plan.ts';
import { runningProcesses } from '../../support/process-group.ts';
import { stage, stageAgain, type Stage } from '../../support/stage.ts';
import { modelEndpoint, serverWithModel } from '../../support/model-stage.ts';

const health = z.object({ executing: z.number(), toolExecutions: z.number() });

/** Polls until the server has no work. After a cancel, the execution still takes its last steps. */
async function untilIdle({ peer }: Stage): Promise<void> {
  for (let idle = false; !idle;) {
    const response = await peer.request('/health', { method: 'GET' });
    const { executing, toolExecutions } = health.parse(await jsonOf(response));
    idle = executing === 0 && toolExecutions === 0;
  }
}

describe('the cancel of a waiting call', () => {
  it('R44 a waiting call can be cancelled without a stream: journal, executor and every view agree', async () => {
    const before = await stage();
    const { peer, file } = before;
    const first = await peer.stream('append "never" to effects.txt');
    const { taskId, sessionId, pending, seq } = await first.parked();
    await first.rest();
    const canceled = await peer.cancel(taskId, 'changed my mind');
    expect(canceled).toMatchObject({ state: 'CANCELED', pending: [], seq: seq + 1 });
    expect(canceled.statusText).toContain('changed my mind');

    const views = async ({ peer: client }: Stage): Promise<void> => {
      expect(await client.task(taskId)).toEqual(canceled);
      expect(await client.list({ status: 'TASK_STATE_CANCELED' })).toMatchObject([{ taskId }]);
      expect(await client.list({ status: 'TASK_STATE_INPUT_REQUIRED' })).toEqual([]);
      const [last] = await (await client.follow(taskId, seq)).rest();
      expect(last).toMatchObject({ state: 'CANCELED', text: canceled.statusText });
      for (const refused of [
        client.decide(taskId, [decisionOn(pending, 'approve')]),
        client.send('go on', { taskId }),
        client.follow(taskId),
      ])
        expect(await refusal(refused)).toMatchObject({ reason: 'TASK_ENDED', facts: { state: 'canceled' } });
      expect(await refusal(client.send('go on', { taskId }))).toMatchObject({ code: -32004 });
      expect(await refusal(client.cancel(taskId))).toMatchObject({ code: -32002, reason: 'TASK_ENDED' });
    };
    await views(before);
    await untilIdle(before);
    await before.server.kill();
    const after = await stageAgain(before);
    await views(after);
    expect(await file('effects.txt')).toBeUndefined();
    // The cancel has not ended the session. So its next task gets the earlier conversation.
    const next = await after.peer.send('say And now something else.', { sessionId });
    expect(next).toMatchObject({ state: 'COMPLETED', sessionId });
    expect(next.taskId).not.toBe(taskId);
  });
});

describe('the cancel of an approved tool that runs', () => {
  it('R45 a cancel aborts an approved tool at once, its processes end, and its late result is dropped', async () => {
    const before = await stage();
    const { server, peer, file } = before;
    const farewell = `trap 'echo told >> effects.txt; echo late; exit 0' TERM`;
    const command = `echo $$ > group.txt; ${farewell}; echo running; sleep 90 & wait; echo over >> effects.txt`;
    const first = await peer.stream(plan(shell(command), append('effects.txt', 'never')));
    const { taskId, pending } = await first.parked();
    const second = await peer.decide(taskId, [decisionOn(pending, 'approve')]);
    await second.output('running');

    const canceled = await peer.cancel(taskId, 'enough');
    expect(canceled.state).toBe('CANCELED');
    await untilFileContains(join(server.workspace, 'effects.txt'), 'told');
    const events = await second.rest();
    expect(events.slice(-2)).toMatchObject([
      { activity: { type: 'tool.finished', outcome: 'stopped', stopReason: 'task-cancel' } },
      { state: 'CANCELED', seq: canceled.seq, text: expect.stringContaining('enough') },
    ]);
    // An orderly shutdown waits for running work. Here no work runs, so the journal must stay unchanged.
    expect(await server.stop()).toBe(0);
    expect(await runningProcesses(Number(await file('group.txt')))).toBe(0);
    expect(await file('effects.txt')).toBe('told\n');
    const after = await stageAgain(before);
    expect(await after.peer.task(taskId)).toEqual(canceled);
    const outputs = (await after.peer.history(taskId)).filter(
      ({ activity }) => activity?.type === 'tool.output',
    );
    expect(outputs.map(({ text, activity }) => [text, activity])).toEqual([
      ['', expect.objectContaining({ text: 'running\n' })],
    ]);
  });
});

describe('the cancel during a model call', () => {
  let model: FakeModelEndpoint;
  let options: Parameters<typeof stage>[0];
  beforeEach(async () => {
    model = await modelEndpoint();
    options = serverWithModel(model);
  });

  it('R46 a cancel aborts a model call, and no other call follows', async () => {
    const on = await stage(options);
    model.script({ type: 'turn', turn: { text: ['Well, '] }, cut: { frames: 2, ending: 'silence' } });
    const stream = await on.peer.stream('begin');
    await stream.until(({ text }) => text === 'Well, ');
    const { taskId = '' } = stream.seen[0] ?? {};
    expect(await on.peer.cancel(taskId, 'enough')).toMatchObject({ state: 'CANCELED' });
    expect(await model.received[0]?.closedEarly).toBe(true);
    expect((await stream.rest()).at(-1)).toMatchObject({ state: 'CANCELED' });
    expect(model.received).toHaveLength(1);
    await untilIdle(on);
  });

  it('R46 a cancel before the first model call allows at most that call, and aborts it', async () => {
    const on = await stage(options);
    for (let round = 0; round < 5; round += 1) {
      model.script({ type: 'turn', turn: { text: ['Well, '] }, cut: { frames: 2, ending: 'silence' } });
      const calls = model.received.length;
      const stream = await on.peer.stream('begin');
      const { taskId = '' } = (await stream.next()) ?? {};
      expect(await on.peer.cancel(taskId)).toMatchObject({ state: 'CANCELED' });
      const events = await stream.rest();
      expect(events.at(-1)?.state).toBe('CANCELED');
      const made = model.received.slice(calls);
      expect(made.length).toBeLessThanOrEqual(1);
      for (const { closedEarly } of made) expect(await closedEarly).toBe(true);
      expect((await on.peer.task(taskId)).overview.turns).toBeLessThanOrEqual(1);
    }
    await untilIdle(on);
  });
});

/**
 * Cuts the stream of a task whose command keeps printing. A server notices the cut at its second write; without output,
 * that is its second heartbeat, after 30 seconds. @returns the id of the task
 */
async function cutStream({ peer }: Stage): Promise<string> {
  const stream = await peer.stream(plan(shell('while sleep 1; do echo working; done')));
  await stream.until((event) => event.activity?.type === 'tool.started');
  stream.connection.destroy();
  return stream.seen[0]?.taskId ?? '';
}

describe('--on-disconnect cancel', () => {
  it('the server cancels the task of a client that drops its stream and does not reconnect; by default the task continues', async () => {
    const ends = await stage({ args: ['--mode', 'auto', '--on-disconnect', 'cancel'] });
    const stays = await stage({ args: ['--mode', 'auto'] });
    const [ending, staying] = [await cutStream(ends), await cutStream(stays)];
    // This request returns at once. An open stream would count as a client that follows the task.
    let task = await ends.peer.task(ending);
    for (; task.state === 'WORKING'; task = await ends.peer.task(ending)) await setTimeout(100);
    expect(task.statusText).toBe(
      'Cancelled by the local user through a disconnect: its client disconnected and did not come back',
    );
    await ends.server.logged(/"channel":"disconnect","reason":"its client disconnected/);
    expect((await stays.peer.task(staying)).state).toBe('WORKING');
    // After it has noticed the cut, the server waits ten seconds for the client.
  }, 180_000);
});
