/** The answer of `GET /api/tasks?prefix=…`: tasks whose id, or whose session's id, has the prefix, newest update first. */
import { z } from 'zod';

export const taskSearchResultSchema = z.object({
  tasks: z.array(z.object({ taskId: z.string(), sessionId: z.string(), title: z.string() })),
  /** May be more than are listed. */
  total: z.number(),
});
export type TaskSearchResult = z.infer<typeof taskSearchResultSchema>;
