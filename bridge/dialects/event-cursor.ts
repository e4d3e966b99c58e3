/** The cursor of the resumable-stream extension, as it sits in an event's metadata. */
import { z } from 'zod';
import { RESUMABLE_STREAM, streamPosition } from '../../shared/protocol/resumable-stream.ts';

const positionMetadata = z.object({ [RESUMABLE_STREAM]: streamPosition });

/** The event's place in the task's journal, or null when the agent does not say. */
export function eventCursorOf(metadata: unknown): number | null {
  const parsed = positionMetadata.safeParse(metadata);
  return parsed.success ? parsed.data[RESUMABLE_STREAM].seq : null;
}
