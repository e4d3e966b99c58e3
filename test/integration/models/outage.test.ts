/** A model's answer breaks off over the real wire. Covers the model and its task. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { OUTAGE_PAUSES_MS } from '../../../a2a-server/task/model-outage.ts';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import type { FakeModelEndpoint, Reply } from '../../support/fake-model-endpoint.ts';
import { modelsOf } from '../../support/model-settings.ts';
import {
  ADA,
  eventsUntil,
  messageOf,
  sendUntilSettled,
  settledAfterOutages,
  startTaskService,
  untilIdle,
  untilSettled,
  type RunningService,
} from '../../support/task-service.ts';
import { modelEndpoint, modelsAt } from '../../support/model-stage.ts';

const CUT: Reply = {
  type: 'turn',
  turn: { text: ['half of ', 'it'] },
  cut: { frames: 2, ending: 'reset' },
};
const WHOLE: Reply = { type: 'turn', turn: { text: ['All of it.'] } };
const FIRST_PAUSE_MS = OUTAGE_PAUSES_MS[0] ?? 0;

let endpoint: FakeModelEndpoint;
beforeEach(async () => {
  endpoint = await modelEndpoint();
});

const start = (): Promise<RunningService> => startTaskService({ models: modelsAt(endpoint) });

describe('a model answer that breaks off after its first words', () => {
  it('the server discards the broken answer and requests it again after a pause; during the pause it keeps only a timer', async () => {
    const service = await start();
    endpoint.script(CUT, WHOLE);
    const accepted = await service.tasks.send(messageOf('do it'));
    const events = await eventsUntil(service, accepted.taskId, 'model.unavailable');
    expect(events.map(({ type }) => type).slice(-3)).toEqual([
      'text.delta',
      'turn.abandoned',
      'model.unavailable',
    ]);
    await untilIdle(service.tasks);
    expect([service.tasks.executing(), service.clock.pending]).toEqual([0, 1]);
    service.clock.advance(FIRST_PAUSE_MS - 1);
    expect(endpoint.received).toHaveLength(1);
    service.clock.advance(1);
    const ended = await untilSettled(service.tasks, accepted);
    expect(ended.status).toEqual({ state: 'completed' });
    expect(ended.exchanges).toMatchObject([{ type: 'message' }, { turn: { turn: 2, text: 'All of it.' } }]);
    expect(JSON.stringify(endpoint.received[1]?.body)).not.toContain('half of');
  });

  it('A4 a cancel during the pause takes effect at once, and the server sends no further request', async () => {
    const service = await start();
    endpoint.script(CUT, WHOLE);
    const { taskId } = await service.tasks.send(messageOf('do it'));
    await eventsUntil(service, taskId, 'model.unavailable');
    await service.tasks.cancel(taskId, { principal: ADA, channel: 'test' }, 'enough');
    expect((await service.tasks.snapshot(taskId, { principal: ADA })).status.state).toBe('canceled');
    expect(service.clock.pending).toBe(0);
    service.clock.advance(3_600_000);
    await untilIdle(service.tasks);
    expect(endpoint.received).toHaveLength(1);
  });

  it('R22 after a restart, the next process waits only for the rest of the pause', async () => {
    const service = await start();
    endpoint.script(CUT, WHOLE);
    const accepted = await service.tasks.send(messageOf('do it'));
    await eventsUntil(service, accepted.taskId, 'model.unavailable');
    const next = await service.restart();
    await next.tasks.recover();
    await untilIdle(next.tasks);
    expect([next.clock.pending, endpoint.received.length]).toEqual([1, 1]);
    next.clock.advance(FIRST_PAUSE_MS);
    expect((await untilSettled(next.tasks, accepted)).status).toEqual({ state: 'completed' });
  });

  it('after several broken answers in a row, the task fails with an error that contains the next step', async () => {
    const service = await start();
    endpoint.script(...OUTAGE_PAUSES_MS.map(() => CUT), CUT);
    const accepted = await service.tasks.send(messageOf('do it'));
    const { status, spent } = await settledAfterOutages(service, accepted);
    expect(status).toMatchObject({
      state: 'failed',
      message: expect.stringMatching(
        /^The model could not continue: openai-compatible:fake .* Send another message in this session/,
      ),
    });
    expect(endpoint.received).toHaveLength(OUTAGE_PAUSES_MS.length + 1);
    expect(spent.turns).toBe(0);
  });
});

describe('a provider that requests a pause', () => {
  it('the provider gets no request for the time that it requested', async () => {
    const service = await start();
    endpoint.script({ type: 'status', status: 429, headers: { 'retry-after': '60' } }, WHOLE);
    const accepted = await service.tasks.send(messageOf('do it'));
    const last = (await eventsUntil(service, accepted.taskId, 'model.unavailable')).at(-1);
    expect(last).toMatchObject({ until: service.clock.now() + 60_000 });
    await untilIdle(service.tasks);
    service.clock.advance(60_000);
    expect((await untilSettled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
  });
});

describe('a model provider that sends nothing', () => {
  it('the status of the task names the silent provider, and changes at the first answer', async () => {
    const service = await start();
    const silence = new Deferred<void>();
    const cut = { frames: 0, ending: 'rest' as const, after: silence.promise };
    endpoint.script({ type: 'turn', turn: { text: ['one'] }, cut });
    const arrived = endpoint.nextRequest();
    const accepted = await service.tasks.send(messageOf('do it'));
    await arrived;
    service.clock.advance(20_000);
    await eventsUntil(service, accepted.taskId, 'turn.noted');
    expect((await service.tasks.snapshot(accepted.taskId, { principal: ADA })).status).toEqual({
      state: 'working',
      note: expect.stringMatching(/^openai-compatible:fake has sent nothing for 20 s/),
    });
    silence.resolve();
    expect((await untilSettled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
    const notes = (await eventsUntil(service, accepted.taskId, 'task.completed')).filter(
      ({ type }) => type === 'turn.noted',
    );
    expect(notes).toMatchObject([{}, { text: 'openai-compatible:fake answers.' }]);
    await untilIdle(service.tasks);
    expect(service.clock.pending).toBe(0);
  });
});

/** The same status for both: https://platform.openai.com/docs/guides/error-codes */
function status429(code: string, message: string): Reply {
  return { type: 'status', status: 429, body: { error: { message, type: code, param: null, code } } };
}

describe.each(['openai:gpt-4.1', 'openai:gpt-5-mini', 'openai-compatible:any'])(
  'a response 429 to %s',
  (model) => {
    const startWith = async (): Promise<RunningService> => {
      const baseUrls = { openai: `${endpoint.url}/v1`, 'openai-compatible': `${endpoint.url}/v1` };
      const models = modelsOf({ model, baseUrls }, { OPENAI_API_KEY: 'key' });
      return startTaskService({ models });
    };

    it('without credit (insufficient_quota), the task fails at once and says so', async () => {
      const service = await startWith();
      endpoint.script(status429('insufficient_quota', 'You exceeded your current quota'));
      const { status } = await sendUntilSettled(service.tasks, messageOf('do it'));
      expect(status).toMatchObject({
        state: 'failed',
        message: expect.stringMatching(/no credit left.*Add credit or raise the limit/),
      });
      expect(endpoint.received).toHaveLength(1);
    });

    it('because of a rate limit, the task waits and requests the answer again', async () => {
      const service = await startWith();
      endpoint.script(status429('rate_limit_exceeded', 'Rate limit reached'));
      const accepted = await service.tasks.send(messageOf('do it'));
      const events = await eventsUntil(service, accepted.taskId, 'model.unavailable');
      expect(events.at(-1)).toMatchObject({ text: expect.stringContaining('Rate limit reached') });
      expect((await service.tasks.snapshot(accepted.taskId, { principal: ADA })).status.state).toBe(
        'working',
      );
    });
  },
);
