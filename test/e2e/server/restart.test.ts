/** Tests kill -9 of the server in different states, and the next server on the same home directory. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { decisionOn } from '../../support/a2a-message.ts';
import { delegate, ENDINGS } from '../../support/connection-ending.ts';
import type { FakeModelEndpoint } from '../../support/fake-model-endpoint.ts';
import { makeGate } from '../../support/gate.ts';
import { append, plan, shell, wait } from '../../support/offline-plan.ts';
import { stage, stageAgain, type Stage } from '../../support/stage.ts';
import { activitiesOf, startsIn } from '../../support/wire-event.ts';
import { modelEndpoint, serverWithModel } from '../../support/model-stage.ts';

describe.each(ENDINGS)('a server that is killed while a call waits, its first connection $name', (ending) => {
  it('R20 if the person approves the call after the restart, it runs once, and the model gets the whole conversation', async () => {
    const before = await stage();
    const earlier = await before.peer.send('say We begin.');
    const text = plan(append('effects.txt', 'one'), append('effects.txt', ' two'), { say: 'We end.' });
    const { sessionId } = earlier;
    const first = await delegate(before.peer, ending, { text, sessionId });
    const parked = await first.parked();
    const { taskId, pending } = parked;
    await ending.leave(first, before.peer);
    const seen = await before.peer.task(taskId);
    await before.server.kill();

    const after = await stageAgain(before);
    const { peer, file } = after;
    expect(await peer.task(taskId)).toEqual(seen);
    expect(await file('effects.txt')).toBeUndefined();
    const second = await peer.decide(taskId, [decisionOn(pending, 'approve')]);
    const asked = await second.parked();
    expect(await file('effects.txt')).toBe('one');
    const third = await peer.decide(taskId, [decisionOn(asked.pending, 'approve')]);
    expect((await third.rest()).at(-1)?.state).toBe('COMPLETED');
    expect(await file('effects.txt')).toBe('one two');
    const task = await peer.task(taskId);
    expect(task.text).toContain('We end.');
    expect(task.overview.turns).toBe(3);
    expect(startsIn(await peer.history(taskId))).toBe(2);
    expect(await peer.list({ contextId: sessionId })).toMatchObject([{ taskId }, { taskId: earlier.taskId }]);
  });
});

/** Runs a command until its effect is visible. Then kills the server and the command. */
async function killedInCommand(): Promise<{
  stage: Stage;
  taskId: string;
  seq: number;
  pass: () => Promise<void>;
}> {
  const before = await stage();
  const gate = await makeGate(before.server.workspace);
  const text = plan(shell(`echo $$ >> effects.txt; echo running; ${gate.wait}`), { say: 'We end.' });
  const first = await before.peer.stream(text);
  const { taskId, pending } = await first.parked();
  const second = await before.peer.decide(taskId, [decisionOn(pending, 'approve')]);
  await second.output('running');
  await before.server.kill();
  process.kill(-Number(await before.file('effects.txt')), 'SIGKILL');
  return { stage: await stageAgain(before), taskId, seq: second.seen.at(-1)?.seq ?? 0, pass: gate.pass };
}

describe('a server that is killed while a command runs', () => {
  it('R21 after a kill the command is "interrupted" with an unknown outcome; it runs again only if a person approves', async () => {
    const { stage: after, taskId, seq, pass } = await killedInCommand();
    const { peer, file } = after;
    const stream = await peer.follow(taskId, seq);
    const { pending, state } = await stream.parked();
    expect(state).toBe('INPUT_REQUIRED');
    expect(pending).toMatchObject([{ reason: 'outcome-unknown', decisions: ['approve', 'deny'] }]);
    expect(activitiesOf(stream.seen)).toMatchObject([
      { type: 'tool.finished', outcome: 'unknown', summary: 'interrupted, outcome unknown' },
    ]);
    expect((await peer.task(taskId)).statusText).toContain('its outcome is unknown');
    expect((await file('effects.txt'))?.match(/\n/g)).toHaveLength(1);

    const second = await peer.decide(taskId, [decisionOn(pending, 'approve')]);
    await second.output('running');
    await pass();
    expect((await second.rest()).at(-1)?.state).toBe('COMPLETED');
    expect((await file('effects.txt'))?.match(/\n/g)).toHaveLength(2);
    expect(startsIn(await peer.history(taskId))).toBe(2);
  });

  it('R21 if a person denies the command, it is "skipped", and the model learns that the outcome is unknown', async () => {
    const { stage: after, taskId, seq } = await killedInCommand();
    const { peer, file } = after;
    const { pending } = await (await peer.follow(taskId, seq)).parked();
    const second = await peer.decide(taskId, [decisionOn(pending, 'deny', { reason: 'I looked' })]);
    expect((await second.rest()).at(-1)?.state).toBe('COMPLETED');
    expect((await file('effects.txt'))?.match(/\n/g)).toHaveLength(1);
    const task = await peer.task(taskId);
    expect(task.overview.calls).toMatchObject([{ state: 'skipped' }]);
    expect(task.text).toContain('the person chose not to run it again. Reason: I looked');
    expect(task.text).toContain('We end.');
  });

  it('R21 after a second kill the command still waits for a decision, and never runs by itself', async () => {
    const { stage: once, taskId, seq } = await killedInCommand();
    const { pending } = await (await once.peer.follow(taskId, seq)).parked();
    const seen = await once.peer.task(taskId);
    await once.server.kill();
    const { peer, file } = await stageAgain(once);
    expect(await peer.task(taskId)).toEqual(seen);
    expect(seen.pending).toEqual(pending);
    expect((await file('effects.txt'))?.match(/\n/g)).toHaveLength(1);
  });

  it('R21 a call that ran without approval also waits for a decision', async () => {
    const before = await stage();
    const gate = await makeGate(before.server.workspace);
    const text = plan(shell(`echo $$ >> effects.txt; echo running; ${gate.wait}`));
    const first = await before.peer.stream(text, { settings: { autoExecute: true } });
    await first.output('running');
    const { taskId = '' } = first.seen[0] ?? {};
    await before.server.kill();
    process.kill(-Number(await before.file('effects.txt')), 'SIGKILL');
    const { peer, file } = await stageAgain(before);
    const { pending } = await (await peer.follow(taskId, 0)).parked();
    expect(pending).toMatchObject([{ reason: 'outcome-unknown' }]);
    expect((await file('effects.txt'))?.match(/\n/g)).toHaveLength(1);
  });
});

describe('a server that is killed while nothing with side effects runs', () => {
  let model: FakeModelEndpoint;
  beforeEach(async () => {
    model = await modelEndpoint();
  });

  it('R22 after a kill during a model turn, the turn is discarded, and the next server runs it again', async () => {
    const before = await stage(serverWithModel(model));
    const turn = { text: ['Half of ', 'a sentence.'] };
    model.script({ type: 'turn', turn, cut: { frames: 2, ending: 'silence' } }, { type: 'turn', turn });
    const first = await before.peer.stream('begin');
    await first.until(({ text }) => text === 'Half of ');
    const { taskId = '', seq = 0 } = first.seen.at(-1) ?? {};
    await before.server.kill();

    const { peer } = await stageAgain(before);
    const rest = await (await peer.follow(taskId, seq)).rest();
    expect(rest.at(-1)?.state).toBe('COMPLETED');
    expect(await peer.task(taskId)).toMatchObject({ state: 'COMPLETED', text: 'Half of a sentence.' });
    expect(model.received.map(({ body }) => body)).toEqual([
      model.received[0]?.body,
      model.received[0]?.body,
    ]);
  });

  it('R22 after a kill during a read-only tool, the tool runs again by itself, with the same result', async () => {
    const before = await stage();
    const first = await before.peer.stream(plan(wait(1.5), { say: 'We end.' }));
    await first.until(({ activity }) => activity?.type === 'tool.started');
    const { taskId = '', seq = 0 } = first.seen.at(-1) ?? {};
    await before.server.kill();

    const { peer } = await stageAgain(before);
    const rest = await (await peer.follow(taskId, seq)).rest();
    expect(activitiesOf(rest)).toMatchObject([
      { type: 'tool.finished', outcome: 'unknown' },
      { type: 'tool.started' },
      { type: 'tool.finished', outcome: 'ok' },
    ]);
    expect(rest.at(-1)?.state).toBe('COMPLETED');
    expect((await peer.task(taskId)).text).toContain('We end.');
  });
});

describe('an orderly shutdown of the server', () => {
  it('after an orderly shutdown a waiting task still waits, and the exit code is 0', async () => {
    const before = await stage();
    const { taskId } = await (await before.peer.stream('append "x" to a.txt')).parked();
    const seen = await before.peer.task(taskId);
    expect(await before.server.stop()).toBe(0);
    const { peer } = await stageAgain(before);
    expect(await peer.task(taskId)).toEqual(seen);
  });
});
