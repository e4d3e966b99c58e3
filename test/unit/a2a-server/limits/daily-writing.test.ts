import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  bytesLeftToWrite,
  dailyLimitError,
  reachedDailyLimit,
  taskSizeProblem,
} from '../../../../a2a-server/limits/daily-writing.ts';
import type { WrittenAmount } from '../../../../a2a-server/journal/written-amounts.ts';
import { DEFAULT_LIMITS } from '../../../support/task-limits.ts';

const written = fc.record({ events: fc.nat({ max: 3_000 }), bytes: fc.nat({ max: 4_000_000 }) });
const use = fc.record({
  principal: written,
  tenant: fc.option(written, { nil: undefined }),
  server: written,
});
const LIMITS = {
  dailyEvents: { principal: 1_000, tenant: 1_500, server: 2_000 },
  dailyMegabytes: { principal: 1, tenant: 2, server: 3 },
  task: { events: 2_000, megabytes: 2 },
};
const before = ({ bytes }: WrittenAmount): WrittenAmount => ({ events: 0, bytes: bytes - 1 });
const tenantOnly = (tenant: WrittenAmount | undefined): { tenant?: WrittenAmount } =>
  tenant === undefined ? {} : { tenant };

describe('the limits of written events', () => {
  test('a turn may write exactly as long as no limit is reached', () => {
    fc.assert(
      fc.property(use, written, ({ principal, tenant, server }, size) => {
        const daily = { principal, server, ...tenantOnly(tenant) };
        const left = bytesLeftToWrite(size, daily, LIMITS);
        const more = { events: 0, bytes: left };
        const after = {
          principal: { events: 0, bytes: principal.bytes + more.bytes },
          ...tenantOnly(tenant && { events: 0, bytes: tenant.bytes + more.bytes }),
          server: { events: 0, bytes: server.bytes + more.bytes },
        };
        const grown = { events: 0, bytes: size.bytes + more.bytes };
        // With all bytes that are left, the narrowest limit is reached, and with one byte less none is.
        expect(
          reachedDailyLimit(after, LIMITS) !== undefined || taskSizeProblem(grown, LIMITS) !== undefined,
        ).toBe(true);
        if (left === 0) return;
        expect(
          reachedDailyLimit(
            {
              principal: before(after.principal),
              ...tenantOnly(after.tenant && before(after.tenant)),
              server: before(after.server),
            },
            LIMITS,
          ),
        ).toBeUndefined();
        expect(taskSizeProblem(before(grown), LIMITS)).toBeUndefined();
      }),
    );
  });

  test('the refusal names whose limit is reached, and the time until the next day', () => {
    const none = { events: 0, bytes: 0 };
    const tenant = { events: 0, bytes: 2_000_000 };
    const reached = reachedDailyLimit({ principal: none, tenant, server: none }, LIMITS);
    const refusal = reached && dailyLimitError(reached, 86_400_000 * 20_000 - 90_000);
    expect([refusal?.reason, refusal?.message]).toEqual([
      'LIMIT_REACHED',
      'Your tenant has 2 MB of events written today (UTC), the limit of this server. Nothing was changed. Send the same request again in 90 s.',
    ]);
    const server = { events: 2_000, bytes: 0 };
    expect(reachedDailyLimit({ principal: none, server }, LIMITS)).toMatchObject({
      name: 'dailyEvents',
      scope: 'server',
    });
  });

  test('the defaults let a task and a principal work', () => {
    const none = { events: 0, bytes: 0 };
    expect(taskSizeProblem({ events: 9_999_999, bytes: 999_999_999 }, DEFAULT_LIMITS)).toBeUndefined();
    expect(reachedDailyLimit({ principal: none, server: none }, DEFAULT_LIMITS)).toBeUndefined();
  });
});
