import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addModelSpending,
  usageCost,
  NO_SPENDING,
  turnSpending,
  addSpending,
  type Spending,
} from '../../../../a2a-server/task/spending.ts';

const PRICE = { input: 3, output: 15, cachedInput: 0.3 };

describe('the cost of a turn', () => {
  it('the cost follows the model’s price per million tokens of each kind', () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 100_000, cachedInputTokens: 400_000 };
    expect(usageCost(usage, PRICE, 0)).toBeCloseTo(0.6 * 3 + 0.4 * 0.3 + 0.1 * 15, 10);
    expect(usageCost(usage, { input: 3, output: 15 }, 0)).toBeCloseTo(3 + 1.5, 10);
  });

  it('the cost has separate prices for read, written and plain tokens', () => {
    const usage = {
      inputTokens: 1_000_000,
      outputTokens: 0,
      cachedInputTokens: 500_000,
      cacheWriteTokens: 300_000,
    };
    expect(usageCost(usage, { ...PRICE, cacheWrite: 3.75 }, 0)).toBeCloseTo(
      0.2 * 3 + 0.5 * 0.3 + 0.3 * 3.75,
      10,
    );
    expect(usageCost(usage, PRICE, 0)).toBeCloseTo(0.5 * 3 + 0.5 * 0.3, 10);
  });

  it('the cost uses the rates of long prompts for long prompts', () => {
    const price = { ...PRICE, longPrompt: { above: 200_000, input: 6, output: 22.5 } };
    expect(usageCost({ inputTokens: 200_000, outputTokens: 0 }, price, 0)).toBeCloseTo(0.2 * 3, 10);
    expect(usageCost({ inputTokens: 200_001, outputTokens: 100_000 }, price, 0)).toBeCloseTo(
      0.200001 * 6 + 2.25,
      10,
    );
  });

  it('a turn has the rates of the time of day at which it ends, also over midnight', () => {
    const price = {
      input: 1,
      output: 1,
      hours: [
        { from: '01:00', to: '04:00', input: 2, output: 2 },
        { from: '23:30', to: '00:30', input: 3, output: 3 },
      ],
    };
    const rateAt = (time: string): number | undefined =>
      usageCost({ inputTokens: 1_000_000, outputTokens: 0 }, price, Date.parse(`2026-01-31T${time}Z`));
    const times = ['00:29:59', '00:30:00', '00:59:59', '01:00:00', '03:59:59', '04:00:00', '23:30:00'];
    expect(times.map(rateAt)).toEqual([3, 1, 1, 2, 2, 1, 3]);
  });

  it('the cost is unknown without a price, unless there are no tokens', () => {
    expect(usageCost({ inputTokens: 1, outputTokens: 0 }, undefined, 0)).toBeUndefined();
    expect(usageCost({ inputTokens: 0, outputTokens: 0 }, undefined, 0)).toBe(0);
    expect(turnSpending({ inputTokens: 1, outputTokens: 0 }, undefined).usd).toBeNull();
    expect(turnSpending({ inputTokens: 0, outputTokens: 0 }, undefined).usd).toBe(0);
  });

  it('the cost is never negative, for any number of cached tokens', () => {
    expect(usageCost({ inputTokens: 10, outputTokens: 0, cachedInputTokens: 50 }, PRICE, 0)).toBeGreaterThan(
      0,
    );
  });
});

describe('the cost by model', () => {
  it.each(['offline', 'toString', '__proto__'])('the cost of the model %s begins at zero', (model) => {
    const usage = { inputTokens: 2, outputTokens: 1 };
    const once = addModelSpending({}, model, { usage, usd: 1 });
    expect(Object.entries(once)).toEqual([[model, { inputTokens: 2, outputTokens: 1, usd: 1 }]]);
    const twice = addModelSpending(once, model, { usage, usd: 2 });
    expect(Object.entries(twice)).toEqual([[model, { inputTokens: 4, outputTokens: 2, usd: 3 }]]);
  });
});

describe('the sum of several costs', () => {
  const spending: fc.Arbitrary<Spending> = fc.record(
    {
      inputTokens: fc.nat(1_000),
      outputTokens: fc.nat(1_000),
      cachedInputTokens: fc.nat(1_000),
      cacheWriteTokens: fc.nat(1_000),
      usd: fc.option(fc.nat(100)),
    },
    { requiredKeys: ['inputTokens', 'outputTokens', 'usd'] },
  );

  it('the sum is unknown if one cost is unknown, and otherwise adds all costs', () => {
    fc.assert(
      fc.property(fc.array(spending, { maxLength: 10 }), (all) => {
        const sum = all.reduce(addSpending, NO_SPENDING);
        for (const kind of ['inputTokens', 'outputTokens', 'cachedInputTokens', 'cacheWriteTokens'] as const)
          expect(sum[kind] ?? 0).toBe(all.reduce((total, each) => total + (each[kind] ?? 0), 0));
        const known = all.every((each) => each.usd !== null);
        expect(sum.usd).toBe(known ? all.reduce((total, each) => total + (each.usd ?? 0), 0) : null);
      }),
    );
  });
});
