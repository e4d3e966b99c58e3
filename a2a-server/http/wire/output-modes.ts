/**
 * Honours `acceptedOutputModes` (A2A 1.0 §3.2.2): the media types that the client of one request accepts.
 *
 * The agent always answers in text. So it begins no work for a client that does not accept text, and it sends as text the
 * other parts that a client does not accept.
 */
import type { SendMessageRequest } from '@a2a-js/sdk';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { ContentPart } from '../../task/events.ts';

export type OutputModes = readonly string[];

const TEXT = 'text/plain';

/** The media types on the agent card: of a message's parts, and of the agent's parts. */
export const INPUT_MODES: readonly string[] = [TEXT, 'text/markdown', 'application/json'];
export const OUTPUT_MODES: readonly string[] = [TEXT, 'application/json'];

/**
 * @returns undefined if the client accepts everything. Words that are no media type, such as `text`, restrict nothing.
 * @throws ProductError UNSUPPORTED_CONTENT for a message that begins a session, if the client does not accept text. Other
 * messages may decide something, so they count whatever the client accepts.
 */
export function outputModesOf({ configuration, message }: SendMessageRequest): OutputModes | undefined {
  const modes = (configuration?.acceptedOutputModes ?? [])
    .map((mode) => mode.split(';', 1)[0]?.trim().toLowerCase() ?? '')
    .filter((mode) => mode.includes('/'));
  if (modes.length === 0) return undefined;
  const begins = !message?.taskId && !message?.contextId;
  if (begins && !accepts(modes, TEXT))
    throw new ProductError(
      'UNSUPPORTED_CONTENT',
      `This agent answers in ${TEXT}. Add ${TEXT} to configuration.acceptedOutputModes.`,
    );
  return modes;
}

/** The part, or a text in its place if the client does not accept its media type. */
export function tailoredPart(part: ContentPart, modes: OutputModes): ContentPart {
  switch (part.type) {
    case 'text':
      return part;
    case 'data':
      return accepts(modes, 'application/json') ? part : { type: 'text', text: JSON.stringify(part.data) };
    case 'file':
    case 'file-url': {
      const { name = 'unnamed', mediaType = 'application/octet-stream' } = part;
      if (accepts(modes, mediaType)) return part;
      const place = part.type === 'file-url' ? ` It is at ${part.url}.` : '';
      return {
        type: 'text',
        text: `[The file ${name} (${mediaType}) is left out: not an accepted type.${place}]`,
      };
    }
  }
}

/** RFC 9110 §12.5.1: a range such as `text/*` accepts each of its types. */
function accepts(modes: OutputModes, mediaType: string): boolean {
  const [kind = ''] = mediaType.split('/', 1);
  return [mediaType.toLowerCase(), `${kind.toLowerCase()}/*`, '*/*'].some((mode) => modes.includes(mode));
}
