/** The settings of a task, part of `urn:mcp-a2a-bridge:tool-approval:v1`. */
import { z } from 'zod';

/**
 * What a task may do without asking a person. `ask`: read. `accept-edits`: read, and change files, except those that
 * programs run later, such as the hooks of git. `auto`: everything, like `autoExecute: true`. `plan`: read, and make a
 * plan. In the mode `plan`, a person cannot approve other calls.
 */
export const taskModeSchema = z.enum(['ask', 'accept-edits', 'auto', 'plan']);
export type TaskMode = z.infer<typeof taskModeSchema>;

/** The settings that a client may send when it starts a task, in `message.metadata[TOOL_APPROVAL_EXTENSION]`. */
export const taskSettingsSchema = z.strictObject({
  /** The absolute path of the agent's working directory. */
  workspace: z.string().min(1).max(4096).optional(),
  /** True if the server runs every tool without asking a person. The journal still records every tool call. */
  autoExecute: z.boolean().optional(),
  /** True if the server offers the model only read-only tools. */
  readOnly: z.boolean().optional(),
  /** What the task may do without asking a person. Must not contradict `autoExecute` or `readOnly`. */
  mode: taskModeSchema.optional(),
  /** A model tier (`fast`, `smart`) or a model id that the server knows. */
  model: z.string().min(1).max(200).optional(),
});
export type TaskSettings = z.infer<typeof taskSettingsSchema>;
