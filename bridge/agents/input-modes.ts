/** Checks attached files against the input modes in an agent's card (A2A 1.0 §4.4.1). Pure. */
import { ProductError } from '../../shared/runtime/errors.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import type { AttachedFile } from '../state/outbox-entry.ts';
import type { AgentCardFacts } from './card.ts';

/** The media type for each word that some cards use instead of a media type. */
const MEDIA_TYPE_OF_WORD: Readonly<Record<string, string>> = { text: 'text/plain' };

/**
 * Throws if the agent's input modes do not allow one of the files.
 * @throws ProductError UNSUPPORTED_CONTENT that names the agent's input modes
 */
export function refuseUnsupportedFiles(
  files: readonly AttachedFile[],
  { name, inputModes }: AgentCardFacts,
): void {
  const refused = files.find(({ mediaType }) => !acceptsMediaType(inputModes, mediaType));
  if (refused === undefined) return;
  const modes = inputModes.length === 0 ? 'no types' : visibleLine(inputModes.join(', ').slice(0, 500));
  throw new ProductError(
    'UNSUPPORTED_CONTENT',
    `The agent "${visibleLine(name)}" takes no ${refused.mediaType} (${visibleLine(refused.name)}): its card lists ${modes}. Nothing was sent. Describe the content in words, name the file in the task, or choose another agent or another model.`,
    { facts: { file: refused.name, mediaType: refused.mediaType } },
  );
}

/**
 * Returns true if the modes allow this media type. RFC 9110 §12.5.1: a range such as `image/*` allows each of its
 * types.
 */
export function acceptsMediaType(modes: readonly string[], mediaType: string): boolean {
  const [kind = ''] = mediaType.split('/', 1);
  return modes.some((mode) => {
    const plain = mode.split(';', 1)[0]?.trim().toLowerCase() ?? '';
    return [mediaType, `${kind}/*`, '*/*'].includes(MEDIA_TYPE_OF_WORD[plain] ?? plain);
  });
}
