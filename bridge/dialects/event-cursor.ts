/** Reads the cursor in an event's metadata (extension resumable-stream). */
import { z } from 'zod';
import {
  RESUMABLE_STREAM_EXTENSION,
  streamPositionSchema,
} from '../../shared/protocol/resumable-stream-extension.ts';

const positionMetadata = z.object({ [RESUMABLE_STREAM_EXTENSION]: streamPositionSchema });

/** Returns the `seq` of an event. Returns null if the agent sends none. */
export function eventCursorOf(metadata: unknown): number | null {
  const parsed = positionMetadata.safeParse(metadata);
  return parsed.success ? parsed.data[RESUMABLE_STREAM_EXTENSION].seq : null;
}
