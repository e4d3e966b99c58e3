/** The agent of a server, and the models that a person may choose for a new task. A web page reads the schema. */
import * as z from 'zod/mini';

/** The response to `GET /page/api/agent`. */
export const offeredAgentSchema = z.object({
  /** The program that runs the tasks, e.g. `the ACP agent gemini`, or the default model. */
  agent: z.string(),
  /** The choices besides the default. Empty if there is nothing to choose. */
  models: z.array(
    z.object({
      /** A tier (`fast`, `smart`) or a model id, as a task's settings take it. */
      name: z.string(),
      id: z.string(),
    }),
  ),
});
export type OfferedAgent = z.infer<typeof offeredAgentSchema>;
