/**
 * The response to a request that aborts a tool execution. R40: the response is the same on every transport. The schema
 * uses `zod/mini`, because web pages read it.
 */
import * as z from 'zod/mini';

export const abortAnswerSchema = z.object({ success: z.boolean(), message: z.string() });
/**
 * `success` is true if an abort stopped the tool execution, this one or an earlier one. So a repeated request gets the
 * same answer. It is false if the tool execution ended for another reason, or is unknown.
 */
export type AbortAnswer = z.infer<typeof abortAnswerSchema>;
