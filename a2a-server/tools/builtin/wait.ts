import { z } from 'zod';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { delay } from '../../runtime/timeout.ts';
import { defineTool } from './define-tool.ts';
import { countWithNoun } from '../../../shared/text/one-line.ts';
import type { Tool } from '../tool.ts';

const MAX_SECONDS = 3600;

/** The extra time of a wait. After it, the server reports the wait as stuck. */
const SLACK_MS = 10_000;

const schema = z.strictObject({
  seconds: z.number().min(0).max(MAX_SECONDS).describe(`How long to wait; at most ${MAX_SECONDS}.`),
});

export function createWaitTool(clock: Clock): Tool {
  return defineTool({
    name: 'wait',
    description: 'Waits for some seconds and does nothing else. It can be stopped at any time.',
    sideEffect: 'none',
    schema,
    timeoutMs: ({ seconds }) => seconds * 1000 + SLACK_MS,
    title: ({ seconds }) => `Wait ${countWithNoun(seconds, 'second')}`,
    show: async (input) => ({ preview: { type: 'json', value: input }, basis: null }),
    run: async ({ seconds }, { signal }) => {
      await delay(clock, seconds * 1000, signal);
      const text = `Waited ${countWithNoun(seconds, 'second')}.`;
      return { text, summary: `waited ${countWithNoun(seconds, 'second')}` };
    },
  });
}
