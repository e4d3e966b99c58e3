/**
 * The response to the abort of a tool execution. It is the same on every transport (R40). Schemas for web pages use
 * `zod/mini`.
 */
import * as z from 'zod/mini';

export const abortAnswerSchema = z.object({ success: z.boolean(), message: z.string() });
/** `success` is false if the execution has ended or is unknown. */
export type AbortAnswer = z.infer<typeof abortAnswerSchema>;
