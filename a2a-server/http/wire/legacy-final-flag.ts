import { LEGACY_METHOD_MESSAGE_STREAM } from '@a2a-js/sdk/compat/v0_3';
import { z } from 'zod';

const waiting = z.looseObject({
  kind: z.literal('status-update'),
  status: z.looseObject({ state: z.enum(['input-required', 'auth-required']) }),
});

/**
 * Returns a function that sets `final: true` on the last event of a stream (A2A 0.3 §7.2.2). The SDK sets the flag only
 * if the task has ended. The stream of a message also ends when the task starts to wait, so 0.3 clients need the flag
 * there too.
 */
export function createLegacyFinalSetter(method: string): <T extends { result?: unknown }>(answer: T) => T {
  if (method !== LEGACY_METHOD_MESSAGE_STREAM) return (answer) => answer;
  return (answer) => {
    const { data } = waiting.safeParse(answer.result);
    return data === undefined ? answer : { ...answer, result: { ...data, final: true } };
  };
}
