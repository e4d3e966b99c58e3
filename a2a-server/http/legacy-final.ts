/**
 * A2A 0.3 §7.2.2: `final: true` marks the last event of an interaction. The SDK sets it for ended tasks only; a message's
 * stream ends as well when the task begins to wait, and 0.3 clients hold on until they are told.
 */
import { LEGACY_METHOD_MESSAGE_STREAM } from '@a2a-js/sdk/compat/v0_3';
import { z } from 'zod';

const waiting = z.looseObject({
  kind: z.literal('status-update'),
  status: z.looseObject({ state: z.enum(['input-required', 'auth-required']) }),
});

/** @returns what to do with the answers to this method. */
export function legacyFinal(method: string): <T extends { result?: unknown }>(answer: T) => T {
  if (method !== LEGACY_METHOD_MESSAGE_STREAM) return (answer) => answer;
  return (answer) => {
    const { data } = waiting.safeParse(answer.result);
    return data === undefined ? answer : { ...answer, result: { ...data, final: true } };
  };
}
