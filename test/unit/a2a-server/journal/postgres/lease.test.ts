import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { LEASE_MS, leaseWorkDeadline } from '../../../../../a2a-server/journal/postgres/lease.ts';

/** One renewal: when the server sent it, how long the request needed, and how long the answer needed. */
const renewal = fc.record({
  pause: fc.integer({ min: 0, max: 10_000 }),
  request: fc.integer({ min: 0, max: 10_000 }),
  answer: fc.option(fc.integer({ min: 0, max: 10_000 })),
});

describe('the lease of a server', () => {
  it('E1 the work of a server ends before another server may claim its tasks, however slow or lost the answers are', () => {
    fc.assert(
      fc.property(fc.array(renewal, { minLength: 1 }), (renewals) => {
        let now = 0;
        let leaseEnd = Number.NEGATIVE_INFINITY;
        let end = Number.NEGATIVE_INFINITY;
        for (const { pause, request, answer } of renewals) {
          const sentAt = now + pause;
          leaseEnd = Math.max(leaseEnd, sentAt + request + LEASE_MS);
          now = sentAt + request;
          // Without an answer, the server does not know that it has renewed its lease.
          if (answer === null) continue;
          end = Math.max(end, leaseWorkDeadline(sentAt));
          now += answer;
        }
        return end < leaseEnd;
      }),
    );
  });
});
