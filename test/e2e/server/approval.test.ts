/**
 * Tests a decision that arrives after the stream of its call has ended. The first connection ends in each possible
 * way.
 */
import { describe, expect, it } from '@jest/globals';
import { decisionOn } from '../../support/a2a-message.ts';
import { delegate, ENDINGS } from '../../support/connection-ending.ts';
import { makeGate } from '../../support/gate.ts';
import { append, plan, shell } from '../../support/offline-plan.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import { activitiesOf, type StreamEvent } from '../../support/wire-event.ts';

function steps(events: readonly StreamEvent[]): string[] {
  return activitiesOf(events).map(({ type }) => type);
}

describe.each(ENDINGS)('a call that waits (its first connection: $name)', (ending) => {
  it('R01 if the person approves a call after its stream has ended, the call runs exactly once, and the new stream has the result', async () => {
    const { peer, file } = await sharedStage();
    const first = await delegate(peer, ending, { text: 'append "once" to effects.txt' });
    const { taskId, pending, seq } = await first.parked();
    const next = await ending.leave(first, peer);
    // E4: the end of a connection does not affect the task.
    expect(await peer.task(taskId)).toMatchObject({ state: 'INPUT_REQUIRED', seq, pending });
    expect(await file('effects.txt')).toBeUndefined();

    const second = await peer.decide(taskId, [decisionOn(pending, 'approve')], { over: next });
    const events = await second.rest();
    expect(steps(events)).toEqual(['tool.started', 'tool.finished']);
    expect(activitiesOf(events).at(-1)).toMatchObject({ outcome: 'ok', callId: pending[0]?.callId });
    expect(events.at(-1)?.state).toBe('COMPLETED');
    expect(await file('effects.txt')).toBe('once');
    expect((await peer.task(taskId)).text).toContain('effects.txt');
    const whole = steps(await peer.history(taskId));
    expect(whole.filter((type) => type === 'tool.started')).toHaveLength(1);
  });

  it('R02 if the person denies a call after its stream has ended, the call never runs, and the model continues with the reason', async () => {
    const { peer, file } = await sharedStage();
    const text = plan(append('effects.txt', 'never'), { say: 'And that is that.' });
    const first = await delegate(peer, ending, { text });
    const { taskId, pending } = await first.parked();
    const next = await ending.leave(first, peer);

    const denial = decisionOn(pending, 'deny', { reason: 'not on a Friday' });
    const events = await (await peer.decide(taskId, [denial], { over: next })).rest();
    expect(events.at(-1)?.state).toBe('COMPLETED');
    const task = await peer.task(taskId);
    // The offline model's text repeats what the server tells it about the call.
    expect(task.text).toContain('The person denied this call; it was not run. Reason: not on a Friday');
    expect(task.text).toContain('And that is that.');
    expect(task.overview.calls).toMatchObject([{ state: 'denied', toolId: null }]);
    expect(steps(await peer.history(taskId))).not.toContain('tool.started');
    expect(await file('effects.txt')).toBeUndefined();
  });

  it('R03 the first of two decisions leaves the other call pending and its request ends; after the second, the turn continues once', async () => {
    const { peer, file } = await sharedStage();
    const text = plan({ together: [append('one.txt', '1'), append('two.txt', '2')] });
    const first = await delegate(peer, ending, { text });
    const { taskId, pending } = await first.parked();
    expect(pending.map(({ title }) => title)).toEqual(['Append to one.txt', 'Append to two.txt']);
    const next = await ending.leave(first, peer);

    const partly = await (await peer.decide(taskId, [decisionOn(pending, 'approve')], { over: next })).rest();
    // The stream has only the snapshot of the task, because the other call still waits.
    expect(partly).toMatchObject([{ type: 'task', state: 'INPUT_REQUIRED' }]);
    expect(partly[0]?.pending).toEqual(pending.slice(1));
    expect([await file('one.txt'), await file('two.txt')]).toEqual([undefined, undefined]);

    const rest = await (
      await peer.decide(taskId, [decisionOn(pending.slice(1), 'approve')], { over: next })
    ).rest();
    expect(rest.at(-1)?.state).toBe('COMPLETED');
    expect([await file('one.txt'), await file('two.txt')]).toEqual(['1', '2']);
    const whole = steps(await peer.history(taskId));
    expect(whole.filter((type) => type === 'tool.started')).toHaveLength(2);
    expect((await peer.task(taskId)).overview.turns).toBe(2);
  });

  it('R09 after approval every view shows "working", and none lists the call as pending', async () => {
    const { server, peer } = await sharedStage();
    const gate = await makeGate(server.workspace);
    const text = plan(shell(`echo running; ${gate.wait}`));
    const first = await delegate(peer, ending, { text });
    const { taskId, pending } = await first.parked();
    const next = await ending.leave(first, peer);

    const second = await peer.decide(taskId, [decisionOn(pending, 'approve')], { over: next });
    await second.output('running');
    expect(second.seen[0]).toMatchObject({ type: 'task', state: 'WORKING', pending: [] });
    expect(await peer.task(taskId)).toMatchObject({ state: 'WORKING', pending: [] });
    expect(await peer.list()).toMatchObject([{ taskId, state: 'WORKING', pending: [] }]);
    await gate.pass();
    await second.rest();
    for (const event of second.seen) expect(event.pending).toEqual([]);
    const states = second.seen.flatMap(({ state }) => state ?? []);
    expect(new Set(states.slice(0, -1))).toEqual(new Set(['WORKING']));
    expect(states.at(-1)).toBe('COMPLETED');
  });
});

describe('an approved call whose first connection ends only while it runs', () => {
  it.each([
    { name: 'by FIN', end: 'destroy' as const },
    { name: 'by RST', end: 'reset' as const },
    { name: 'by half', end: 'halfClose' as const },
  ])('R01 $name: the call keeps running, and runs once', async ({ end }) => {
    const { server, peer, file } = await sharedStage();
    const gate = await makeGate(server.workspace);
    const text = plan(shell(`echo ran >> effects.txt; echo running; ${gate.wait}; echo over`));
    const first = await peer.stream(text);
    const { taskId, pending } = await first.parked();
    await first.rest();

    const second = await peer.decide(taskId, [decisionOn(pending, 'approve')]);
    await second.output('running');
    first.connection[end]();
    await first.connection.closed;
    expect(await peer.task(taskId)).toMatchObject({ state: 'WORKING' });
    await gate.pass();
    const events = await second.rest();
    expect(steps(events)).toEqual(['tool.started', 'tool.output', 'tool.output', 'tool.finished']);
    expect(events.at(-1)?.state).toBe('COMPLETED');
    expect(await file('effects.txt')).toBe('ran\n');
  });
});

describe('many calls that wait together', () => {
  it('R03 every decision before the last one gets its response at once, though other calls wait', async () => {
    const { peer, file } = await sharedStage();
    const calls = Array.from({ length: 12 }, (_, n) => append(`${n}.txt`, `${n}`));
    const first = await peer.stream(plan({ together: calls }));
    const { taskId, pending } = await first.parked();
    await first.rest();
    // A decision takes a few times as long as a request that writes nothing. A response that waits for something else, a
    // heartbeat or the next decision, takes hundreds of times as long.
    const ratios: number[] = [];
    for (const [n, action] of pending.slice(0, -1).entries()) {
      const start = performance.now();
      await peer.task(taskId);
      const begun = performance.now();
      const stream = await peer.decide(taskId, [decisionOn([action], 'approve')], { over: first.connection });
      const answer = await stream.rest();
      ratios.push((performance.now() - begun) / (begun - start));
      expect(answer.at(-1)?.pending).toEqual(pending.slice(n + 1));
    }
    // Uses the median, because one slow moment of a busy machine proves nothing.
    expect(ratios.toSorted((a, b) => a - b)[5]).toBeLessThan(40);
    const last = await peer.decide(taskId, [decisionOn(pending.slice(-1), 'approve')]);
    expect((await last.rest()).at(-1)?.state).toBe('COMPLETED');
    const written = await Promise.all(calls.map((_, n) => file(`${n}.txt`)));
    expect(written).toEqual(calls.map((_, n) => `${n}`));
  });
});
