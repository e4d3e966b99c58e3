/**
 * The agent of a server, and the models that a person may choose for a new task. The schema uses `zod/mini`, because a
 * web page reads it.
 */
import * as z from 'zod/mini';

/** The response to `GET /page/api/agent`. */
export const offeredAgentSchema = z.object({
  /** What runs the tasks: the default model, or a program, e.g. `the ACP agent gemini`. */
  agent: z.string(),
  /** The models that a person may choose instead of the default model. Empty if there are none. */
  models: z.array(
    z.object({
      /** A model tier (`fast`, `smart`) or a model id. A client sends it as `model` in the settings of a task. */
      name: z.string(),
      id: z.string(),
    }),
  ),
});
export type OfferedAgent = z.infer<typeof offeredAgentSchema>;
