import { expect, test } from '@jest/globals';
import { bridgeDecision } from '../../../../../shared/client/mcp/session-report.ts';

test('an approval over the bridge keeps the limits of its trust', () => {
  expect(
    bridgeDecision({
      callId: 'one',
      shown: '3f9ac2d1',
      decision: 'approve',
      scope: 'tool',
      grant: { minutes: 10, uses: 3 },
    }),
  ).toMatchObject({ decision: 'trust_tool', trustMinutes: 10, trustUses: 3 });
});
