/** A result that no client has collected. */
import { z } from 'zod';
import { mcpState } from '../dialects/mcp-state.ts';

export const waitingResult = z.object({
  sessionId: z.string(),
  taskId: z.string(),
  agent: z.string(),
  state: mcpState,
  /** The first words of the task. */
  title: z.string(),
});
export type WaitingResult = z.infer<typeof waitingResult>;
