/** A result that no client has collected. */
import { z } from 'zod';
import { mcpStateSchema } from '../dialects/mcp-state.ts';

export const waitingResultSchema = z.object({
  sessionId: z.string(),
  taskId: z.string(),
  agent: z.string(),
  state: mcpStateSchema,
  /** The first words of the task. */
  title: z.string(),
});
export type WaitingResult = z.infer<typeof waitingResultSchema>;
