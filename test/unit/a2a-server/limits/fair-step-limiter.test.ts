import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FairStepLimiter } from '../../../../a2a-server/limits/fair-step-limiter.ts';
import { Deferred } from '../../../../shared/runtime/deferred.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

interface Step {
  principal: string;
  end: Deferred<void>;
  begun: boolean;
}

function stage() {
  const clock = new FakeClock();
  const limiter = new FairStepLimiter(clock);
  const steps: Step[] = [];
  const done: Promise<void>[] = [];
  const start = (principal: string): Step => {
    const step: Step = { principal, end: new Deferred<void>(), begun: false };
    steps.push(step);
    done.push(
      limiter.run(principal, () => {
        step.begun = true;
        return step.end.promise;
      }),
    );
    return step;
  };
  const begun = (principal: string): number =>
    steps.filter((step) => step.principal === principal && step.begun).length;
  return { clock, start, steps, begun, done };
}

describe('steps of several principals', () => {
  test('a principal that is alone is not bounded', async () => {
    const { start, begun } = stage();
    for (let count = 0; count < 50; count += 1) start('loud');
    await nextTurn();
    expect(begun('loud')).toBe(50);
  });

  test('beside another principal, it has two steps in flight, and the other one begins at once', async () => {
    const { start, steps, begun } = stage();
    start('quiet').end.resolve();
    await nextTurn();
    for (let count = 0; count < 50; count += 1) start('loud');
    await nextTurn();
    expect(begun('loud')).toBe(2);
    const second = start('quiet');
    await nextTurn();
    expect(second.begun).toBe(true);
    steps.find(({ principal }) => principal === 'loud')?.end.resolve();
    await nextTurn();
    await nextTurn();
    expect(begun('loud')).toBe(3);
  });

  test('ten seconds after the last step of the other, it is not bounded any more', async () => {
    const { clock, start, begun } = stage();
    start('quiet').end.resolve();
    await nextTurn();
    clock.advance(10_001);
    for (let count = 0; count < 5; count += 1) start('loud');
    await nextTurn();
    expect(begun('loud')).toBe(5);
  });

  test('a step that fails lets the next one in', async () => {
    const { start, begun, done } = stage();
    start('quiet').end.resolve();
    const [first] = [start('loud'), start('loud'), start('loud')];
    await nextTurn();
    expect(begun('loud')).toBe(2);
    first?.end.reject(new Error('no space'));
    await expect(done[1]).rejects.toThrow('no space');
    await nextTurn();
    await nextTurn();
    expect(begun('loud')).toBe(3);
  });

  test('every step begins at some time, and those of one principal in order', async () => {
    const act = fc.oneof(
      fc.record({ type: fc.constant('start' as const), principal: fc.constantFrom('ann', 'bob', 'cy') }),
      fc.record({ type: fc.constant('end' as const), at: fc.nat({ max: 20 }) }),
      fc.record({ type: fc.constant('later' as const), ms: fc.constantFrom(1, 20_000) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
        const { clock, start, steps, done } = stage();
        for (const each of acts) {
          if (each.type === 'start') start(each.principal);
          else if (each.type === 'later') clock.advance(each.ms);
          else steps.filter((step) => step.begun)[each.at]?.end.resolve();
          await nextTurn();
          await nextTurn();
          for (const name of ['ann', 'bob', 'cy']) {
            const own = steps.filter(({ principal }) => principal === name).map((step) => step.begun);
            expect(own.indexOf(false) === -1 || !own.slice(own.indexOf(false)).includes(true)).toBe(true);
          }
        }
        for (const { end } of steps) end.resolve();
        await Promise.all(done);
        expect(steps.every(({ begun }) => begun)).toBe(true);
      }),
      { numRuns: numberOfRuns(200) },
    );
  });
});
