/**
 * The response to `GET /api/tasks?prefix=…`: the tasks whose task id or session id starts with the prefix. The most
 * recently updated task is first.
 */
import { z } from 'zod';

export const taskSearchResultSchema = z.object({
  tasks: z.array(z.object({ taskId: z.string(), sessionId: z.string(), title: z.string() })),
  /** The number of all matching tasks. The list may contain fewer. */
  total: z.number(),
});
export type TasksByIdPrefix = z.infer<typeof taskSearchResultSchema>;
