/**
 * Reads and sends OpenRouter's `reasoning_details`: reasoning text with signatures, summaries, and encrypted reasoning.
 * The format is the same for all model providers. Later requests must contain the details "unmodified" and in the same
 * order.
 *
 * Source: https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning
 */
import type { LanguageModelV3Prompt, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { JsonObject } from '../../task/replay-provider-data.ts';
import { fieldOf } from '../../../shared/runtime/record.ts';
import { SKIPPED_SIGNATURE } from './gemini-signatures.ts';

/** The journal stores the details under this namespace. */
const NAMESPACE = 'openrouter';
const FIELD = 'reasoning_details';

/**
 * Joins the pieces of one answer to complete details. "The complete reasoning sequence is built by concatenating all
 * chunks in order."
 */
export class ReasoningDetailsCollector {
  #details: JsonObject[] | undefined;

  add(pieces: readonly JsonObject[]): void {
    // An empty list is stored too, because DeepSeek needs it in the next request.
    const details = (this.#details ??= []);
    for (const piece of pieces) {
      const last = details.at(-1);
      if (last !== undefined && isContinued(last, piece))
        details[details.length - 1] = appendPiece(last, piece);
      else details.push(piece);
    }
  }

  /** Returns a stream part without text that contains the details. Returns no part if the answer has no details. */
  streamParts(): LanguageModelV3StreamPart[] {
    if (this.#details === undefined) return [];
    const part = { id: FIELD, providerMetadata: { [NAMESPACE]: { [FIELD]: this.#details } } };
    // An empty list is not reasoning, so a text part contains it.
    return this.#details.length === 0
      ? [{ type: 'text-start', ...part }]
      : [{ type: 'reasoning-start', ...part }];
  }
}

/**
 * True if the piece continues the last detail. Text and summaries arrive in pieces with the same index. An encrypted
 * detail arrives in one piece.
 */
function isContinued(last: JsonObject, piece: JsonObject): boolean {
  const { type, index } = piece;
  return type !== 'reasoning.encrypted' && last['type'] === type && last['index'] === index;
}

/**
 * Appends a piece to the last detail. Only the last piece of a detail has a signature. In the other pieces, it is
 * null or absent, so null never replaces a value.
 */
function appendPiece(last: JsonObject, piece: JsonObject): JsonObject {
  const both: JsonObject = { ...last };
  for (const [key, value] of Object.entries(piece)) {
    const before = both[key];
    if ((key === 'text' || key === 'summary') && typeof before === 'string')
      both[key] = before + (typeof value === 'string' ? value : '');
    else if (value !== null || before === undefined) both[key] = value;
  }
  return both;
}

/**
 * Moves the details from the parts of each turn to its message, because OpenRouter reads them there. The plain text of
 * the same reasoning is omitted.
 * @param gemini3 true for a model that refuses a tool call without a signature
 */
export function moveReasoningDetailsToMessages(
  prompt: LanguageModelV3Prompt,
  gemini3: boolean,
): LanguageModelV3Prompt {
  return prompt.map((message) => {
    if (message.role !== 'assistant') return message;
    const kept = message.content
      .map((part) => part.providerOptions?.[NAMESPACE]?.[FIELD])
      .find(Array.isArray);
    const sent = kept?.filter((detail) => !isUnsignedGeminiText(detail));
    const call = message.content.find((part) => part.type === 'tool-call');
    const unsigned = gemini3 && call !== undefined && sent?.some(isEncrypted) !== true;
    if (sent === undefined && !unsigned) return message;
    const details = [...(sent ?? []), ...(unsigned ? [skippedSignature(call.toolCallId)] : [])];
    return {
      ...message,
      content: message.content.filter(({ type }) => type !== 'reasoning'),
      providerOptions: { ...message.providerOptions, openaiCompatible: { [FIELD]: details } },
    };
  });
}

/**
 * True for text that Gemini refuses ("Corrupted thought signature"). OpenRouter's own SDK omits such text too. The
 * encrypted data is enough.
 */
function isUnsignedGeminiText(detail: unknown): boolean {
  const isText = fieldOf(detail, 'type') === 'reasoning.text';
  return isText && fieldOf(detail, 'format') === 'google-gemini-v1' && !fieldOf(detail, 'signature');
}

function isEncrypted(detail: unknown): boolean {
  return fieldOf(detail, 'type') === 'reasoning.encrypted';
}

/**
 * Returns the detail that replaces a missing signature. OpenRouter accepts one such detail per turn, with the id of the
 * first tool call.
 */
function skippedSignature(callId: string): JsonObject {
  return {
    type: 'reasoning.encrypted',
    data: SKIPPED_SIGNATURE,
    id: callId,
    format: 'google-gemini-v1',
    index: 0,
  };
}
