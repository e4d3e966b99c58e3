/**
 * Reads and answers questions of agents of Google's Agent Development Kit (ADK). Such an agent waits for the response
 * to a function call. It refuses any other answer with "It was not provided a function response for the function call."
 * (`google/adk-python`, `a2a/converters/long_running_functions.py` and `part_converter.py`). Pure.
 */
import type { Part } from '@a2a-js/sdk';
import { z } from 'zod';
import { ProductError } from '../../shared/runtime/errors.ts';
import { dataOfPart, dataPart, isDataShownWhole } from './parts.ts';
import { answerAsJsonObject } from './plain-text-question.ts';

/** A function call that waits for its response. */
export interface AdkFunctionCall {
  id: string;
  name: string;
}

const callMetadata = z.object({ adk_type: z.literal('function_call'), adk_is_long_running: z.literal(true) });
const callData = z.object({ id: z.string().min(1), name: z.string().min(1) });

/** The function with which ADK asks for the approval of a tool call. Its response is `{confirmed: boolean}`. */
const CONFIRMATION = 'adk_request_confirmation';
/** The function with which ADK asks for a sign-in. Its response has credentials, which the bridge does not handle. */
const CREDENTIAL = 'adk_request_credential';
const confirmation = z.object({ confirmed: z.boolean() });

/**
 * Returns the function call that waits for its response. Returns null if there is none, or if there are several: D3,
 * one answer decides one call. Also returns null if the call is too long to show. D5: a person can approve only what is
 * shown in full.
 */
export function adkFunctionCallIn(parts: readonly Part[]): AdkFunctionCall | null {
  const calls = parts.flatMap((part) => {
    const isCall = callMetadata.safeParse(part.metadata).success;
    const call = isCall ? callData.safeParse(dataOfPart(part)).data : undefined;
    return call === undefined ? [] : [{ call, part }];
  });
  const [only, ...others] = calls;
  if (only === undefined || others.length > 0) return null;
  return only.call.name === CREDENTIAL || !isDataShownWhole(only.part) ? null : only.call;
}

/** Returns a text that says how the person must answer. Returns '' if every answer is valid. */
export function adkAnswerHint({ name }: AdkFunctionCall): string {
  return name === CONFIRMATION
    ? 'Answer {"confirmed": true} to run the call, or {"confirmed": false} to refuse it.'
    : '';
}

/**
 * Builds the part that answers the call.
 * @throws ProductError INVALID_DECISION. D1: only a clear answer confirms a call
 */
export function adkFunctionResponse({ id, name }: AdkFunctionCall, words: string): Part {
  const response = answerAsJsonObject(words) ?? { result: words };
  if (name === CONFIRMATION && !confirmation.safeParse(response).success)
    throw new ProductError(
      'INVALID_DECISION',
      `The agent asks for a confirmation; nothing was sent. ${adkAnswerHint({ id, name })}`,
      { facts: { callId: id } },
    );
  return { ...dataPart({ id, name, response }), metadata: { adk_type: 'function_response' } };
}
