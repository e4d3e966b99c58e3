/**
 * Recognizes parts of Anthropic's stream that are newer than the AI SDK. The AI SDK reports these parts as errors.
 * Anthropic announces that it may "add new variants to enum-like output values (for example, streaming event types)".
 */
import { TypeValidationError } from '@ai-sdk/provider';
import { fieldOf } from '../../shared/runtime/record.ts';

const KNOWN_EVENT_TYPES: ReadonlySet<string> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
  'error',
]);

/**
 * The types of the content blocks that the server uses. The server offers no tools that the provider executes, so their
 * blocks are not listed.
 */
const KNOWN_BLOCK_TYPES: ReadonlySet<string> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use']);

const KNOWN_DELTA_TYPES: ReadonlySet<string> = new Set([
  'text_delta',
  'input_json_delta',
  'thinking_delta',
  'signature_delta',
  'citations_delta',
]);

/** `block` is the id of a content block. The reader ignores this block and its later deltas. */
type NewVariant = { type: 'event' } | { type: 'block'; block: string };

/**
 * Returns the new part of the stream that the error reports. Returns undefined for any other error, also for an invalid
 * event of a known type.
 */
export function newVariantIn(error: unknown): NewVariant | undefined {
  // A value with a `message` is the error of another provider, and no part of Anthropic's stream.
  if (!TypeValidationError.isInstance(error) || fieldOf(error.value, 'message') !== undefined)
    return undefined;
  const { value } = error;
  if (isUnknown(fieldOf(value, 'type'), KNOWN_EVENT_TYPES)) return { type: 'event' };
  if (isUnknown(fieldOf(fieldOf(value, 'delta'), 'type'), KNOWN_DELTA_TYPES)) return { type: 'event' };
  if (!isUnknown(fieldOf(fieldOf(value, 'content_block'), 'type'), KNOWN_BLOCK_TYPES)) return undefined;
  return { type: 'block', block: String(fieldOf(value, 'index')) };
}

function isUnknown(type: unknown, known: ReadonlySet<string>): boolean {
  return typeof type === 'string' && !known.has(type);
}
