import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ExecutionSlot } from '../../../../a2a-server/limits/execution-slot.ts';
import { FairExecutionSlots } from '../../../../a2a-server/limits/fair-execution-slots.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

const QUEUE = { principal: 100, server: 200 };

const PRINCIPALS = ['ann', 'acme/bob', 'acme/cy'] as const;

function fairSlots(
  principal: number,
  server: number,
  weights: Record<string, number> = {},
): FairExecutionSlots {
  return new FairExecutionSlots({
    limits: () => ({ executions: { principal, server }, queuedTasks: QUEUE }),
    weights: () => weights,
  });
}

/** Turns with many places on a server whose test says when it is busy. */
function busyTurns(weights: Record<string, number> = {}) {
  const clock = new FakeClock();
  const server = { busy: true };
  const slots = new FairExecutionSlots({
    limits: () => ({ executions: { principal: 20, server: 40 }, queuedTasks: QUEUE }),
    weights: () => weights,
    busy: () => server.busy,
    clock,
  });
  return { clock, server, slots };
}

const requests = (slots: FairExecutionSlots, principal: string, count: number): ExecutionSlot[] =>
  Array.from({ length: count }, () => slots.request({ principal, begun: false }));
const running = (slots: readonly ExecutionSlot[]): number =>
  slots.filter(({ state }) => state === 'running').length;

describe('execution slots of tasks', () => {
  test('a quiet principal gets the next place, although another has a long queue', () => {
    const slots = fairSlots(4, 4);
    const loud = requests(slots, 'loud', 50);
    const [quiet] = requests(slots, 'quiet', 1);
    expect([running(loud), quiet?.state]).toEqual([4, 'waiting']);
    loud[0]?.end();
    expect([quiet?.state, loud[4]?.state]).toEqual(['running', 'waiting']);
  });

  test('a principal below its limit runs at once, although another waits at its own limit', () => {
    const slots = fairSlots(2, 4);
    requests(slots, 'loud', 10);
    expect(slots.isFree('quiet')).toBe(true);
    expect(running(requests(slots, 'quiet', 3))).toBe(2);
  });

  test('places follow the weights', () => {
    const slots = fairSlots(12, 12, { heavy: 2 });
    const first = requests(slots, 'other', 12);
    const heavy = requests(slots, 'heavy', 20);
    const light = requests(slots, 'light', 20);
    for (const turn of first) turn.end();
    expect([running(heavy), running(light)]).toEqual([8, 4]);
  });

  test('a task that has begun goes before the new tasks of its principal', () => {
    const slots = fairSlots(1, 1);
    const [first, second] = requests(slots, 'ann', 2);
    const begun = slots.request({ principal: 'ann', begun: true });
    expect([begun.ahead, second?.ahead]).toEqual([0, 1]);
    first?.end();
    expect([begun.state, second?.state]).toEqual(['running', 'waiting']);
  });

  test('between two turns of its model, a task lets a principal with less go first, and continues later', async () => {
    const slots = fairSlots(2, 2);
    const [one, two] = requests(slots, 'loud', 2);
    expect(one?.passToOtherPrincipal()).toBeUndefined();
    const [quiet] = requests(slots, 'quiet', 1);
    const again = one?.passToOtherPrincipal();
    expect([one?.state, quiet?.state]).toEqual(['waiting', 'running']);
    // Both have one place now.
    expect(two?.passToOtherPrincipal()).toBeUndefined();
    quiet?.end();
    expect(await again).toBe(true);
  });

  test('a task that waits for a person counts for nothing, also if two of its tools ask', () => {
    const slots = fairSlots(1, 1);
    const [asking, next, last] = requests(slots, 'ann', 3);
    const release = [asking?.hold(), asking?.hold()];
    expect([slots.running, next?.state]).toEqual([1, 'running']);
    for (const goOn of release) goOn?.();
    expect(slots.running).toBe(2);
    asking?.end();
    expect(last?.state).toBe('waiting');
    next?.end();
    expect([last?.state, slots.running]).toEqual(['running', 1]);
  });

  test('a turn that ends while it waits gives up its place in the queue', async () => {
    const slots = fairSlots(1, 1);
    const [first, second, third] = requests(slots, 'ann', 3);
    second?.end();
    expect([await second?.granted, slots.waiting, third?.ahead]).toEqual([false, 1, 0]);
    first?.end();
    expect(third?.state).toBe('running');
  });

  test('the place is reported again only when it has halved', () => {
    const slots = fairSlots(1, 1);
    const all = requests(slots, 'ann', 1);
    const told: number[] = [];
    for (let count = 0; count < 9; count += 1) {
      const turn: ExecutionSlot = slots.request({
        principal: 'ann',
        begun: false,
        onMoved: () => told.push(turn.ahead),
      });
      all.push(turn);
    }
    const last = all.at(-1);
    told.length = 0;
    const of = (turn: ExecutionSlot | undefined): number[] => {
      const seen: number[] = [];
      for (const each of all.slice(0, -1)) {
        const before = turn?.reportedAhead;
        each.end();
        if (turn?.reportedAhead !== before && turn) seen.push(turn.reportedAhead);
      }
      return seen;
    };
    expect(of(last)).toEqual([4, 2, 1, 0]);
  });

  test('a new task is refused when the queue of its principal is full, and counts tasks that are being created', async () => {
    const executions = { principal: 1, server: 2 };
    const slots = new FairExecutionSlots({
      limits: () => ({ executions, queuedTasks: { principal: 2, server: 3 } }),
    });
    requests(slots, 'ann', 2);
    const created = await slots.reserve('ann');
    await expect(slots.reserve('ann')).rejects.toThrow('You have 2 tasks that wait for their turn');
    await slots.reserve('bob');
    created();
    await slots.reserve('ann');
  });

  test('while the server is busy, no more tasks may wait than may run, and a refusal takes a moment', async () => {
    let isBusy = true;
    const clock = new FakeClock();
    const slots = new FairExecutionSlots({
      limits: () => ({ executions: { principal: 2, server: 4 }, queuedTasks: QUEUE }),
      busy: () => isBusy,
      clock,
      random: () => 0.5,
    });
    requests(slots, 'ann', 4);
    const timers = clock.pending;
    const refused = expect(slots.reserve('ann')).rejects.toThrow('You have 2 tasks that wait for their turn');
    await slots.reserve('bob');
    clock.advance(499);
    expect(clock.pending).toBe(timers + 1);
    clock.advance(1);
    await refused;
    isBusy = false;
    await slots.reserve('ann');
  });

  test('beside another principal, a busy server runs few tasks of each, in proportion to the weights', () => {
    const { slots } = busyTurns({ heavy: 2 });
    requests(slots, 'quiet', 1)[0]?.end();
    const loud = requests(slots, 'loud', 20);
    const heavy = requests(slots, 'heavy', 20);
    expect([running(loud), running(heavy)]).toEqual([3, 6]);
    loud[0]?.end();
    expect([running(loud), slots.isFree('loud'), slots.isFree('quiet')]).toEqual([3, false, true]);
  });

  test('a busy server does not bound a principal that is alone, and bounds it between two turns of its model later', async () => {
    const { slots, server, clock } = busyTurns();
    const loud = requests(slots, 'loud', 5);
    expect([running(loud), loud[0]?.passToOtherPrincipal()]).toEqual([5, undefined]);
    requests(slots, 'quiet', 1);
    const [first, second] = [loud[0]?.passToOtherPrincipal(), loud[1]?.passToOtherPrincipal()];
    expect([running(loud), loud[2]?.passToOtherPrincipal()]).toEqual([3, undefined]);
    server.busy = false;
    clock.advance(500);
    expect([await first, await second, running(loud)]).toEqual([true, true, 5]);
  });

  test('tasks that waited for a busy server run when the other principal has been quiet for ten seconds', () => {
    const { slots, clock } = busyTurns();
    requests(slots, 'quiet', 1)[0]?.end();
    const loud = requests(slots, 'loud', 10);
    clock.advance(9_500);
    expect(running(loud)).toBe(3);
    clock.advance(1_000);
    expect([running(loud), clock.pending]).toEqual([10, 0]);
  });

  test('waiting tasks run when the server is no longer busy, at whatever moment that happens', () => {
    for (let busyReads = 0; busyReads < 40; busyReads += 1) {
      const clock = new FakeClock();
      let reads = 0;
      const slots = new FairExecutionSlots({
        limits: () => ({ executions: { principal: 20, server: 40 }, queuedTasks: QUEUE }),
        busy: () => (reads += 1) <= busyReads,
        clock,
      });
      requests(slots, 'quiet', 1);
      const loud = requests(slots, 'loud', 5);
      // Each check of the waiting tasks reads the state again.
      clock.advance(20_000);
      expect([busyReads, running(loud)]).toEqual([busyReads, 5]);
    }
  });

  test('a tenant bounds the running and the queued tasks of its principals together', async () => {
    const slots = new FairExecutionSlots({
      limits: () => ({
        executions: { principal: 2, tenant: 3, server: 9 },
        queuedTasks: { principal: 2, tenant: 2, server: 9 },
      }),
    });
    const own = [...requests(slots, 'acme/ann', 3), ...requests(slots, 'acme/bob', 2)];
    expect(own.map(({ state }) => state)).toEqual(['running', 'running', 'waiting', 'running', 'waiting']);
    await expect(slots.reserve('acme/bob')).rejects.toThrow(
      'Your tenant has 2 tasks that wait for their turn',
    );
    expect(slots.isFree('other/bob')).toBe(true);
    own[0]?.end();
    expect(running(own)).toBe(3);
  });

  test('between two turns, a task gives its place within the limit of the tenant, but not to another tenant', () => {
    const executions = { principal: 2, tenant: 2, server: 9 };
    const slots = new FairExecutionSlots({ limits: () => ({ executions, queuedTasks: QUEUE }) });
    const [loud] = requests(slots, 'acme/loud', 2);
    const [other] = requests(slots, 'other/ann', 2);
    const [quiet] = requests(slots, 'acme/quiet', 1);
    expect(other?.passToOtherPrincipal()).toBeUndefined();
    expect(loud?.passToOtherPrincipal()).toBeDefined();
    expect(quiet?.state).toBe('running');
  });

  test('higher limits let waiting tasks run at once, and lower limits stop none', () => {
    let places = 1;
    const slots = new FairExecutionSlots({
      limits: () => ({ executions: { principal: places, server: places }, queuedTasks: QUEUE }),
    });
    const tasks = requests(slots, 'ann', 4);
    places = 3;
    slots.limitsChanged();
    expect(running(tasks)).toBe(3);
    places = 1;
    slots.limitsChanged();
    expect(running(tasks)).toBe(3);
    for (const turn of tasks.slice(0, 2)) turn.end();
    expect(tasks[3]?.state).toBe('waiting');
    tasks[2]?.end();
    expect(tasks[3]?.state).toBe('running');
  });

  test('no limit is exceeded, no place stays empty while a task may run, and nobody is forgotten', () => {
    const principal = fc.constantFrom(...PRINCIPALS);
    const step = fc.oneof(
      fc.record({ type: fc.constant('request' as const), principal, begun: fc.boolean() }),
      fc.record({ type: fc.constantFrom('end' as const, 'pass' as const), at: fc.nat({ max: 20 }) }),
    );
    const limits = fc.record({
      principal: fc.integer({ min: 1, max: 4 }),
      tenant: fc.integer({ min: 1, max: 4 }),
      server: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(limits, fc.array(step, { maxLength: 80 }), (limit, steps) => {
        const slots = new FairExecutionSlots({
          limits: () => ({ executions: limit, queuedTasks: QUEUE }),
          weights: () => ({ 'acme/bob': 3 }),
        });
        const open: ExecutionSlot[] = [];
        const runningOf = (name?: string): number =>
          running(open.filter((turn) => name === undefined || turn.principal === name));
        for (const each of steps) {
          if (each.type === 'request') open.push(slots.request(each));
          else if (each.type === 'end') open.splice(each.at % Math.max(1, open.length), 1)[0]?.end();
          else void open[each.at % Math.max(1, open.length)]?.passToOtherPrincipal();
          expect([slots.running, slots.waiting]).toEqual([runningOf(), open.length - runningOf()]);
          expect(slots.running).toBeLessThanOrEqual(limit.server);
          expect(runningOf('acme/bob') + runningOf('acme/cy')).toBeLessThanOrEqual(limit.tenant);
          for (const name of PRINCIPALS) {
            expect(runningOf(name)).toBeLessThanOrEqual(limit.principal);
            const waits = open.some((turn) => turn.principal === name && turn.state === 'waiting');
            if (waits) expect(slots.isFree(name)).toBe(false);
          }
        }
        for (let left = open.length; left > 0; left -= 1) {
          const next = open.findIndex(({ state }) => state === 'running');
          expect(next).not.toBe(-1);
          open.splice(next, 1)[0]?.end();
        }
        expect([slots.running, slots.waiting]).toEqual([0, 0]);
      }),
      { numRuns: numberOfRuns(500) },
    );
  });
});
