/** Tests the length of a message that a task accepts. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  maxConversationTokens,
  nextContextReduction,
  estimatePromptTokens,
  type ContextWindow,
} from '../../../../../a2a-server/task/conversation/context-reduction.ts';
import {
  maxMessageTokens,
  messageTokens,
} from '../../../../../a2a-server/task/conversation/message-limit.ts';
import type { Snapshot } from '../../../../../a2a-server/task/snapshot.ts';
import { created, message, working } from '../../../../support/journal-samples.ts';
import { numberOfRuns } from '../../../../support/property-runs.ts';
import { foldedTask } from '../../../../support/folded-task.ts';

const room = (window: number, beside: number): ContextWindow => ({ window, beside, model: 'm', basis: 'b' });
const textOf = (tokens: number): string => 'abc'.repeat(Math.max(0, tokens));

/** Returns a live task with these unanswered messages. */
function taskWith(...lengths: number[]): Snapshot {
  const [first, ...more] = lengths.map((tokens, index) => message(textOf(tokens), `m${String(index)}`));
  return foldedTask([created('s'), ...(first === undefined ? [] : [first]), working, ...more], 'k');
}

describe('the longest message of a task', () => {
  it('a new task accepts half of the window that the instructions and tools leave', () => {
    expect(maxMessageTokens({}, room(8_000, 1_000))).toBe(3_500);
    expect(maxMessageTokens({}, room(100_000, 1_000))).toBe(49_500);
  });

  it('no message is too long without a window, and every message is too long if the tools fill the window', () => {
    expect(maxMessageTokens({}, { ...room(1, 0), window: undefined })).toBe(Infinity);
    expect(maxMessageTokens({}, room(8_000, 9_000))).toBe(0);
  });

  it('the unanswered messages of a live task and of the task before it count', () => {
    const at = room(8_000, 1_000);
    const live = taskWith(1_500, 500);
    const free = maxConversationTokens(at);
    expect(maxMessageTokens({ live }, at)).toBe(Math.floor(free * (5 / 6)) - 2_000);
    expect(maxMessageTokens({ previous: taskWith(3_000) }, at)).toBe(Math.floor(free * (5 / 6)) - 3_000);
  });

  it('a task whose messages all had an accepted length fits into its window', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        lengths,
        fc.integer({ min: 4_000, max: 40_000 }),
        fc.nat(2_000),
        (asked, window, beside) => {
          const at = room(window, beside);
          const accepted: number[] = [];
          for (const tokens of asked) {
            const live = accepted.length === 0 ? undefined : taskWith(...accepted);
            if (tokens <= maxMessageTokens({ live }, at)) accepted.push(tokens);
          }
          if (accepted.length === 0) return;
          const task = taskWith(...accepted);
          expect(nextContextReduction([], task, at)).toBeUndefined();
          expect(estimatePromptTokens([], task, at)).toBeLessThanOrEqual(window);
        },
      ),
      { numRuns: numberOfRuns(60) },
    );
  });

  it('a file counts with a low estimate', () => {
    const parts = [
      { type: 'text' as const, text: textOf(10) },
      {
        type: 'stored-file' as const,
        file: { hash: 'h', bytes: 3_000_000, mediaType: 'application/pdf' },
      },
      { type: 'stored-file' as const, file: { hash: 'i', bytes: 9, mediaType: 'image/png' } },
    ];
    const tokens = messageTokens({ messageId: 'm', parts });
    expect(tokens).toBeGreaterThan(12 * 1_500 + 250);
    expect(tokens).toBeLessThan(12 * 1_500 + 400);
  });
});
