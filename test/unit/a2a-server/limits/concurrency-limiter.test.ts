import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ConcurrencyLimiter } from '../../../../a2a-server/limits/concurrency-limiter.ts';
import { isLimitRefusal, ProductError } from '../../../../shared/runtime/errors.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

const limit = { principal: 2, server: 3 };

function refusalOf(act: () => unknown): ProductError {
  try {
    act();
  } catch (error) {
    if (error instanceof ProductError) return error;
  }
  throw new Error('nothing was refused');
}

describe('a limit', () => {
  test('names whose limit is reached, how many there may be, and when to try again', () => {
    const use = new ConcurrencyLimiter('streams', () => limit);
    use.take('ann');
    use.take('ann');
    const own = refusalOf(() => use.take('ann'));
    expect([own.reason, own.message]).toEqual([
      'LIMIT_REACHED',
      'You have 2 open event streams, the limit of this server. Nothing was changed. Send the same request again in 5 s.',
    ]);
    expect(own.facts).toEqual({ limit: 'streams', scope: 'principal', most: '2', retryAfter: '5' });
    use.take('bob');
    const servers = refusalOf(() => use.take('bob'));
    expect([servers.reason, servers.facts['scope']]).toEqual(['OVERLOADED', 'server']);
  });

  test('of one is about one', () => {
    const use = new ConcurrencyLimiter('queuedTasks', () => ({ principal: 1, server: 2 }));
    use.take('ann');
    expect(refusalOf(() => use.take('ann')).message).toMatch(/^You have 1 task that waits for its turn, /);
  });

  test('of a tenant bounds its principals together, and no principal outside of it', () => {
    const use = new ConcurrencyLimiter('streams', () => ({ principal: 2, tenant: 3, server: 9 }));
    const ends = [use.take('acme/ann'), use.take('acme/ann'), use.take('acme/bob')];
    const refused = refusalOf(() => use.take('acme/bob'));
    expect([refused.reason, refused.message]).toEqual([
      'LIMIT_REACHED',
      'Your tenant has 3 open event streams, the limit of this server. Nothing was changed. Send the same request again in 5 s.',
    ]);
    expect(refused.facts).toEqual({ limit: 'streams', scope: 'tenant', most: '3', retryAfter: '5' });
    for (const other of ['bob', 'acme', 'other/bob', 'other/cy']) use.take(other);
    ends[0]?.();
    use.take('acme/bob');
    expect(refusalOf(() => use.take('acme/cy')).facts['scope']).toBe('tenant');
  });

  test('counts a place that is given back twice only once', () => {
    const use = new ConcurrencyLimiter('requests', () => limit);
    const end = use.take('ann');
    use.take('ann');
    end();
    end();
    expect([use.of('ann'), use.total]).toEqual([1, 1]);
  });

  test('never lets more in than both limits allow, refuses nothing below them, and forgets idle principals', () => {
    const step = fc.record({ principal: fc.constantFrom('ann', 'bob', 'cy'), ends: fc.boolean() });
    const caps = fc.record({
      principal: fc.integer({ min: 1, max: 4 }),
      server: fc.integer({ min: 1, max: 6 }),
    });
    fc.assert(
      fc.property(caps, fc.array(step, { maxLength: 60 }), (most, steps) => {
        const use = new ConcurrencyLimiter('requests', () => most);
        const open: { principal: string; end: () => void }[] = [];
        const openOf = (name: string): number => open.filter(({ principal }) => principal === name).length;
        for (const { principal, ends } of steps) {
          if (ends) open.shift()?.end();
          else {
            const full = openOf(principal) >= most.principal || open.length >= most.server;
            try {
              open.push({ principal, end: use.take(principal) });
              expect(full).toBe(false);
            } catch (error) {
              expect([isLimitRefusal(error), full]).toEqual([true, true]);
            }
          }
          expect([use.total, use.of(principal)]).toEqual([open.length, openOf(principal)]);
        }
      }),
      { numRuns: numberOfRuns(500) },
    );
  });
});
