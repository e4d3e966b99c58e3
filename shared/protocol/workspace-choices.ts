/** The workspaces that a person may choose for a new task. The schema uses `zod/mini`, because a web page reads it. */
import * as z from 'zod/mini';

/** The response to `GET /page/api/workspaces`. */
export const workspaceChoicesSchema = z.object({
  /** The workspace of a task whose message names no workspace. Null if there is no such default. */
  fallback: z.nullable(z.string()),
  /** Workspaces must be inside these directories. If the list is empty, any directory may be a workspace. */
  allowed: z.readonly(z.array(z.string())),
});
export type WorkspaceChoices = z.infer<typeof workspaceChoicesSchema>;
