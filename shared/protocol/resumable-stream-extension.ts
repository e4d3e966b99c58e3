/**
 * The A2A extension `urn:mcp-a2a-bridge:resumable-stream:v1`. Every streamed event contains its journal position, as
 * `metadata[RESUMABLE_STREAM].seq` and as the SSE `id`. A client that subscribes with `Last-Event-ID` gets all later
 * events. The names follow a2aproject/A2A#1986.
 */
import { z } from 'zod';

export { LAST_EVENT_ID, RESUMABLE_STREAM } from './extensions.ts';

/** `metadata[RESUMABLE_STREAM]` of a streamed event and of a task. */
export const streamPositionSchema = z.object({
  /** The position in the task's journal. Also the `id` of the server-sent event. */
  seq: z.number().int().min(0),
});
