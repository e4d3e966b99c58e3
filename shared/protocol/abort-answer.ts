/**
 * The answer to the abort of a tool execution: the same on every transport (R40). The schema uses `zod/mini`, because web
 * pages read it too.
 */
import * as z from 'zod/mini';

export const abortAnswerSchema = z.object({ success: z.boolean(), message: z.string() });
/** `success` is false if the execution has ended or is unknown. */
export type AbortAnswer = z.infer<typeof abortAnswerSchema>;
