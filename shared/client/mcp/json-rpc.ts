import * as z from 'zod/mini';

const rpcError = z.object({ code: z.number(), message: z.string(), data: z.optional(z.unknown()) });

/** A message from the server: a response, a notification or a request. */
export const jsonRpcMessageSchema = z.object({
  id: z.optional(z.nullable(z.union([z.string(), z.number()]))),
  method: z.optional(z.string()),
  params: z.optional(z.unknown()),
  result: z.optional(z.unknown()),
  error: z.optional(rpcError),
});
export type JsonRpcMessage = z.infer<typeof jsonRpcMessageSchema>;

export const progressParamsSchema = z.object({
  progressToken: z.union([z.string(), z.number()]),
  progress: z.prefault(z.number(), 0),
  total: z.optional(z.number()),
  message: z.optional(z.string()),
  _meta: z.optional(z.record(z.string(), z.unknown())),
});
export type ProgressParams = z.infer<typeof progressParamsSchema>;

export const initializeResultSchema = z.object({ protocolVersion: z.string() });
