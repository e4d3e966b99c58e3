/**
 * The response to a request that aborts a tool execution. R40: the response is the same on every transport. The schema
 * uses `zod/mini`, because web pages read it.
 */
import * as z from 'zod/mini';

export const abortAnswerSchema = z.object({ success: z.boolean(), message: z.string() });
/** `success` is false if the tool execution has ended or is unknown. */
export type AbortAnswer = z.infer<typeof abortAnswerSchema>;
