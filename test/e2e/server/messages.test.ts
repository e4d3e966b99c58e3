/** Tests messages that arrive during other work, and messages that arrive twice. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { decisionOn } from '../../support/a2a-message.ts';
import { refusal } from '../../support/rpc-answer.ts';
import { delegate, ENDINGS } from '../../support/connection-ending.ts';
import type { FakeModelEndpoint } from '../../support/fake-model-endpoint.ts';
import { makeGate } from '../../support/gate.ts';
import { append, plan, shell } from '../../support/offline-plan.ts';
import type { ServerOptions } from '../../support/server-process.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import { stage, stageAgain } from '../../support/stage.ts';
import { modelEndpoint, serverWithModel } from '../../support/model-stage.ts';

describe.each(ENDINGS)('a message during a tool run, after a first connection $name', (ending) => {
  it('R04 the message is queued, and the model answers it after the turn', async () => {
    const { server, peer } = await sharedStage();
    const gate = await makeGate(server.workspace);
    const first = await delegate(peer, ending, { text: plan(shell(`echo running; ${gate.wait}`)) });
    const { taskId, sessionId, pending } = await first.parked();
    const next = await ending.leave(first, peer);
    const second = await peer.decide(taskId, [decisionOn(pending, 'approve')], { over: next });
    await second.output('running');

    const third = await peer.stream('say By the way, thank you.', { sessionId });
    expect(await third.next()).toMatchObject({ type: 'task', taskId, state: 'WORKING' });
    const queued = await peer.task(taskId);
    expect(queued.history.at(-1)).toBe('user: say By the way, thank you.');
    expect(queued.overview.turns).toBe(1);
    await gate.pass();
    const answers = await Promise.all([second.rest(), third.rest()]);
    for (const events of answers) {
      expect(events.at(-1)?.state).toBe('COMPLETED');
      expect(events.map(({ text }) => text).join('')).toContain('By the way, thank you.');
    }
    const { history } = await peer.task(taskId);
    expect(history.filter((line) => line.startsWith('user:'))).toHaveLength(2);
    expect(history.at(-1)).toMatch(/^agent: [^]*By the way, thank you\./);
  });
});

describe('a message while a call waits', () => {
  it('R04 the message is refused with a clear error, and changes nothing', async () => {
    const { peer } = await sharedStage();
    const { taskId, sessionId, pending, seq } = await (await peer.stream('append "x" to a.txt')).parked();
    for (const to of [{ taskId }, { sessionId }]) {
      const { reason, facts } = await refusal(peer.send('say By the way, thank you.', to));
      expect({ reason, waits: facts['pending'] }).toEqual({
        reason: 'DECISION_NEEDED',
        waits: pending[0]?.callId,
      });
    }
    expect(await peer.task(taskId)).toMatchObject({ seq, state: 'INPUT_REQUIRED' });
  });
});

/** One request to a model, in OpenAI's format. */
const APPEND = {
  id: 'c1',
  name: 'append-file',
  arguments: JSON.stringify({ path: 'effects.txt', content: 'once' }),
};

describe('a second message with the same id', () => {
  let model: FakeModelEndpoint;
  let options: ServerOptions;
  beforeEach(async () => {
    model = await modelEndpoint();
    options = serverWithModel(model);
  });

  it('R27 two messages with one id at the same time start one task and one model call, and each stream follows that task', async () => {
    const { peer } = await stage(options);
    model.script({ type: 'turn', turn: { text: ['I append.'], calls: [APPEND] } });
    const send = async () => (await peer.stream('append it', { messageId: 'the-same' })).rest();
    const streams = await Promise.all(Array.from({ length: 6 }, send));
    const { taskId = '', pending } = streams[0]?.at(-1) ?? {};
    expect(pending).toHaveLength(1);
    const whole = await peer.history(taskId);
    for (const [first, ...rest] of streams) {
      // Each stream shows the task at the time of its message, and all later events.
      expect(first).toMatchObject({ type: 'task', taskId });
      expect(rest.map(({ data }) => data)).toEqual(
        whole.filter(({ seq }) => seq > (first?.seq ?? 0)).map(({ data }) => data),
      );
      expect((rest.at(-1) ?? first)?.pending).toEqual(pending);
    }
    expect(await peer.list()).toHaveLength(1);
    expect(model.received).toHaveLength(1);
  });

  it('R27 a second message with the same id after a kill -9 starts no second task; a different body is a conflict', async () => {
    const before = await stage(options);
    model.script({ type: 'turn', turn: { calls: [APPEND] } });
    const first = await before.peer.stream('append it', { messageId: 'the-same' });
    const parked = await first.parked();
    await before.server.kill();

    const { peer, file } = await stageAgain(before);
    const again = await (await peer.stream('append it', { messageId: 'the-same' })).parked();
    expect(again).toMatchObject({ taskId: parked.taskId, seq: parked.seq, pending: parked.pending });
    expect(model.received).toHaveLength(1);
    const other = await refusal(peer.stream('append it twice', { messageId: 'the-same' }));
    expect(other).toMatchObject({ reason: 'MESSAGE_CONFLICT', facts: { taskId: parked.taskId } });
    expect(await peer.list()).toMatchObject([{ taskId: parked.taskId, seq: parked.seq }]);

    model.script({ type: 'turn', turn: { text: ['Done.'] } });
    const decide = async () => {
      const decision = decisionOn(parked.pending, 'approve');
      return (await peer.decide(parked.taskId, [decision], { messageId: 'a-decision' })).rest();
    };
    // A decision that is sent twice is one message. So the server must not refuse the copy as a late decision.
    for (const events of await Promise.all([decide(), decide()]))
      expect(events.at(-1)?.state).toBe('COMPLETED');
    expect(await decide()).toMatchObject([{ type: 'task', state: 'COMPLETED' }]);
    expect(await file('effects.txt')).toBe('once');
    expect(model.received).toHaveLength(2);
    const conflict = decisionOn(parked.pending, 'deny');
    expect(await refusal(peer.decide(parked.taskId, [conflict], { messageId: 'a-decision' }))).toMatchObject({
      reason: 'MESSAGE_CONFLICT',
    });
  });

  it('R27 a second message with the same id while the task works gets a stream with its current state and later events', async () => {
    const { server, peer, file } = await sharedStage();
    const gate = await makeGate(server.workspace);
    const text = plan(shell(`echo running; ${gate.wait}`), append('effects.txt', 'once'));
    const send = () => peer.stream(text, { messageId: 'the-same', settings: { autoExecute: true } });
    const first = await send();
    await first.output('running');
    first.connection.reset();
    const second = await send();
    const now = await second.next();
    expect(now).toMatchObject({ type: 'task', taskId: first.seen[0]?.taskId, state: 'WORKING' });
    await gate.pass();
    expect((await second.rest()).at(-1)?.state).toBe('COMPLETED');
    const whole = await peer.history(now?.taskId ?? '');
    const after = whole.filter(({ seq }) => seq > (now?.seq ?? 0));
    expect(second.seen.slice(1)).toEqual(after);
    expect(await file('effects.txt')).toBe('once');
    expect(await peer.list()).toHaveLength(1);
  });
});
