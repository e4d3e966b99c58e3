/** A model that breaks off in the middle of an answer, over the real wire, and the task it works for. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { PAUSES_MS } from '../../../a2a-server/task/model-outage.ts';
import type { FakeModelEndpoint, Reply } from '../../support/fake-model-endpoint.ts';
import { ADA, idle, says, settled, startService, type RunningService } from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { modelEndpoint, modelsAt } from '../../support/model-stage.ts';

const CUT: Reply = {
  type: 'turn',
  turn: { text: ['half of ', 'it'] },
  cut: { frames: 2, ending: 'reset' },
};
const WHOLE: Reply = { type: 'turn', turn: { text: ['All of it.'] } };
const FIRST_PAUSE_MS = PAUSES_MS[0] ?? 0;

let endpoint: FakeModelEndpoint;
beforeEach(async () => {
  endpoint = await modelEndpoint();
});

async function start() {
  const where = { stateDir: await temporaryDirectory(), workspace: await temporaryDirectory() };
  return { where, service: await startService({ ...where, models: modelsAt(endpoint) }) };
}

/** The task's events until the last is of this type. */
async function until(
  { tasks }: RunningService,
  taskId: string,
  type: TaskEvent['type'],
): Promise<TaskEvent[]> {
  const events: TaskEvent[] = [];
  const { signal } = new AbortController();
  for await (const batch of tasks.follow(taskId, 0, { until: 'ended', signal })) {
    events.push(...batch.map(({ event }) => event));
    if (events.at(-1)?.type === type) break;
  }
  return events;
}

describe('an answer that breaks off after words were seen', () => {
  it('is void and asked for again after a pause, for which nothing is held but a timer', async () => {
    const { service } = await start();
    endpoint.script(CUT, WHOLE);
    const accepted = await service.tasks.send(says('do it'));
    const events = await until(service, accepted.taskId, 'model.unavailable');
    expect(events.map(({ type }) => type).slice(-3)).toEqual([
      'text.delta',
      'turn.abandoned',
      'model.unavailable',
    ]);
    await idle(service.tasks);
    expect([service.tasks.executing(), service.clock.pending]).toEqual([0, 1]);
    service.clock.advance(FIRST_PAUSE_MS - 1);
    expect(endpoint.received).toHaveLength(1);
    service.clock.advance(1);
    const ended = await settled(service.tasks, accepted);
    expect(ended.status).toEqual({ state: 'completed' });
    expect(ended.exchanges).toMatchObject([{ type: 'message' }, { turn: { turn: 2, text: 'All of it.' } }]);
    expect(JSON.stringify(endpoint.received[1]?.body)).not.toContain('half of');
  });

  it('A4 cancels at once while it is waited for, and asks nobody again', async () => {
    const { service } = await start();
    endpoint.script(CUT, WHOLE);
    const { taskId } = await service.tasks.send(says('do it'));
    await until(service, taskId, 'model.unavailable');
    await service.tasks.cancel(taskId, { principal: ADA, channel: 'test' }, 'enough');
    expect((await service.tasks.snapshot(taskId, ADA)).status.state).toBe('canceled');
    expect(service.clock.pending).toBe(0);
    service.clock.advance(3_600_000);
    await idle(service.tasks);
    expect(endpoint.received).toHaveLength(1);
  });

  it('R22 is waited for by the next process for as long as was said', async () => {
    const { service, where } = await start();
    endpoint.script(CUT, WHOLE);
    const accepted = await service.tasks.send(says('do it'));
    await until(service, accepted.taskId, 'model.unavailable');
    await service.stop();
    const next = await startService({ ...where, models: modelsAt(endpoint), clock: service.clock });
    await next.tasks.recover();
    await idle(next.tasks);
    expect([next.clock.pending, endpoint.received.length]).toEqual([1, 1]);
    next.clock.advance(FIRST_PAUSE_MS);
    expect((await settled(next.tasks, accepted)).status).toEqual({ state: 'completed' });
  });

  it('fails its task after so many in a row, with a sentence that says how to go on', async () => {
    const { service } = await start();
    endpoint.script(...PAUSES_MS.map(() => CUT), CUT);
    const accepted = await service.tasks.send(says('do it'));
    const waits = service.tasks.follow(accepted.taskId, 0, {
      until: 'ended',
      signal: new AbortController().signal,
    });
    for await (const batch of waits)
      for (const { event } of batch)
        if (event.type === 'model.unavailable') {
          await idle(service.tasks);
          service.clock.advance(event.until - service.clock.now());
        }
    const { status, spent } = await settled(service.tasks, accepted);
    expect(status).toMatchObject({
      state: 'failed',
      message: expect.stringMatching(
        /^The model could not go on: openai-compatible:fake .* Send another message in this session/,
      ),
    });
    expect(endpoint.received).toHaveLength(PAUSES_MS.length + 1);
    expect(spent.turns).toBe(0);
  });
});

describe('a provider that asks for a pause', () => {
  it('is left alone for as long as it says', async () => {
    const { service } = await start();
    endpoint.script({ type: 'status', status: 429, headers: { 'retry-after': '60' } }, WHOLE);
    const accepted = await service.tasks.send(says('do it'));
    const last = (await until(service, accepted.taskId, 'model.unavailable')).at(-1);
    expect(last).toMatchObject({ until: service.clock.now() + 60_000 });
    await idle(service.tasks);
    service.clock.advance(60_000);
    expect((await settled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
  });
});

describe('a provider that sends nothing', () => {
  it('shows in the status of the task that it is waited for, and when it answers', async () => {
    const { service } = await start();
    endpoint.script({ type: 'turn', turn: { text: ['one'] }, cut: { frames: 0, ending: 'silence' } });
    const arrived = endpoint.nextRequest();
    const { taskId } = await service.tasks.send(says('do it'));
    await arrived;
    service.clock.advance(20_000);
    const noted = (await until(service, taskId, 'turn.noted')).at(-1);
    expect(noted).toMatchObject({
      text: expect.stringMatching(/^openai-compatible:fake has sent nothing for 20 s/),
    });
    await service.tasks.cancel(taskId, { principal: ADA, channel: 'test' }, 'enough');
    await idle(service.tasks);
    expect(service.clock.pending).toBe(0);
  });
});
