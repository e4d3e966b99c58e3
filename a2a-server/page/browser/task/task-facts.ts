/** Reads the facts of a task that its stream does not have: settings, grants and files. */
import * as z from 'zod/mini';

const file = z.object({
  hash: z.string(),
  bytes: z.number(),
  mediaType: z.string(),
  name: z.optional(z.string()),
});
export type TaskFileView = z.infer<typeof file>;

const grant = z.object({
  grantId: z.string(),
  scope: z.string(),
  tool: z.string(),
  source: z.object({ type: z.string(), server: z.optional(z.string()), agent: z.optional(z.string()) }),
  by: z.string(),
  channel: z.string(),
  expiresAt: z.nullable(z.string()),
  usesLeft: z.nullable(z.number()),
});
export type TaskGrant = z.infer<typeof grant>;

const settings = z.object({
  workspace: z.optional(z.string()),
  mode: z.optional(z.string()),
  model: z.optional(z.string()),
  autoExecute: z.optional(z.boolean()),
  readOnly: z.optional(z.boolean()),
});

export const taskFactsSchema = z.object({
  settings,
  grants: z.prefault(z.array(grant), []),
  files: z.prefault(z.array(file), []),
});
export type TaskFacts = z.infer<typeof taskFactsSchema>;
