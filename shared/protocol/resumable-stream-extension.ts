/**
 * The A2A extension `urn:mcp-a2a-bridge:resumable-stream:v1`. Every streamed event contains its position in the task's
 * journal, as `metadata[RESUMABLE_STREAM_EXTENSION].seq` and as the SSE `id`. A client that subscribes with `Last-Event-ID`
 * receives all later events. The names are those of a2aproject/A2A#1986.
 */
import { z } from 'zod';

export { LAST_EVENT_ID_HEADER, RESUMABLE_STREAM_EXTENSION } from './extensions.ts';

/** The value of `metadata[RESUMABLE_STREAM_EXTENSION]` in a streamed event and in a task. */
export const streamPositionSchema = z.object({
  /** The position of the event in the task's journal. It is also the `id` of the server-sent event. */
  seq: z.number().int().min(0),
});
