import { describe, expect, it } from '@jest/globals';
import { Agent } from '../../../../../bridge/agents/agent.ts';
import { checkAgent, clockSkew } from '../../../../../bridge/cli/doctor/check-agent.ts';
import { checkNode } from '../../../../../bridge/cli/doctor/check-machine.ts';
import { cleanUpLater } from '../../../../support/clean-up.ts';
import { hostileAgent } from '../../../../support/fake-agent-hostile.ts';

describe('doctor’s check of an agent', () => {
  it('R100 the report about an agent names an endpoint that never answers, although the card does', async () => {
    const { url, stop } = await hostileAgent(() => undefined);
    cleanUpLater(() => stop());
    const half = new Agent('half', async () => ({ url, headers: {} }));
    const found = await checkAgent(half, { timeoutMs: 50 });
    expect(found).toMatchObject([
      { subject: 'agent half', level: 'ok' },
      {
        subject: 'agent half',
        level: 'fail',
        message: expect.stringMatching(/its card answers, but its endpoint does not: .*in time/),
        next: expect.stringContaining('address of the endpoint'),
      },
    ]);
  });
});

describe('doctor’s check of the clock', () => {
  const before = Date.parse('2026-01-01T00:00:10.500Z');
  const asked = { before, after: before + 200 };

  it.each([
    ['Thu, 01 Jan 2026 00:00:10 GMT', 0],
    ['Thu, 01 Jan 2026 00:01:10 GMT', 59_300],
    ['Thu, 01 Jan 2026 00:00:00 GMT', -9_500],
    [null, undefined],
    ['yesterday', undefined],
  ])('the response’s date %s gives a clock error of %s ms', (date, skew) =>
    expect(clockSkew(date, asked)).toBe(skew),
  );
});

describe('doctor’s check of the Node version', () => {
  it.each([
    ['v20.19.0', 'ok'],
    ['v20.18.3', 'fail'],
    ['v18.20.0', 'fail'],
    ['v26.1.0', 'ok'],
  ])('the check of Node %s has the level "%s"', (version, level) =>
    expect(checkNode(version).level).toBe(level),
  );
});
