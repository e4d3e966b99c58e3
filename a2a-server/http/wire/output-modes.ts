/**
 * Reads the media types that the client of one request accepts (`acceptedOutputModes`, A2A 1.0 §3.2.2).
 *
 * The agent always answers in text. So if a client begins a session but does not accept text, the server refuses the
 * message. If a client does not accept the media type of a data part or file part, it gets that part as text.
 */
import type { SendMessageRequest } from '@a2a-js/sdk';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { ArtifactPart } from '../../task/events.ts';

export type OutputModes = readonly string[];

const TEXT = 'text/plain';

/** The media types that the agent card offers for input. */
export const INPUT_MODES: readonly string[] = [TEXT, 'text/markdown', 'application/json'];
/** The media types that the agent card offers for output. */
export const OUTPUT_MODES: readonly string[] = [TEXT, 'application/json'];

/**
 * Reads the accepted media types. Words that are not media types, such as `text`, have no effect. Returns undefined if
 * the client accepts everything.
 * @throws ProductError UNSUPPORTED_CONTENT if this is the first message of a session and the client does not accept
 *   text. Later messages are never refused, because they may contain a decision.
 */
export function parseOutputModes({ configuration, message }: SendMessageRequest): OutputModes | undefined {
  const modes = (configuration?.acceptedOutputModes ?? [])
    .map((mode) => mode.split(';', 1)[0]?.trim().toLowerCase() ?? '')
    .filter((mode) => mode.includes('/'));
  if (modes.length === 0) return undefined;
  const begins = !message?.taskId && !message?.contextId;
  if (begins && !acceptsMediaType(modes, TEXT))
    throw new ProductError(
      'UNSUPPORTED_CONTENT',
      `This agent answers in ${TEXT}. Add ${TEXT} to configuration.acceptedOutputModes.`,
    );
  return modes;
}

/** Returns the part. If the client does not accept its media type, returns a text part instead. */
export function partInAcceptedMode(part: ArtifactPart, modes: OutputModes): ArtifactPart {
  switch (part.type) {
    case 'text':
      return part;
    case 'data':
      return acceptsMediaType(modes, 'application/json')
        ? part
        : { type: 'text', text: JSON.stringify(part.data) };
    case 'file':
    case 'file-url': {
      const { name = 'unnamed', mediaType = 'application/octet-stream' } = part;
      if (acceptsMediaType(modes, mediaType)) return part;
      const place = part.type === 'file-url' ? ` It is at ${part.url}.` : '';
      return {
        type: 'text',
        text: `[The file ${name} (${mediaType}) is omitted: its type is not accepted.${place}]`,
      };
    }
  }
}

/** True if the client accepts the media type. A range such as `text/*` accepts each of its types (RFC 9110 §12.5.1). */
function acceptsMediaType(modes: OutputModes, mediaType: string): boolean {
  const [kind = ''] = mediaType.split('/', 1);
  return [mediaType.toLowerCase(), `${kind.toLowerCase()}/*`, '*/*'].some((mode) => modes.includes(mode));
}
