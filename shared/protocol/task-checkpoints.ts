/**
 * The checkpoints of a task (file contents before a turn changed them), and what a restoration would change. The
 * schemas use `zod/mini`, because a web page reads them.
 */
import * as z from 'zod/mini';

const checkpointSchema = z.object({
  /** The id that the command `checkpoint restore` takes. */
  id: z.string(),
  turn: z.number(),
  /** The time directly before the first change of the turn, in milliseconds since 1970. */
  at: z.number(),
  files: z.array(
    z.object({
      path: z.string(),
      change: z.enum(['created', 'changed', 'deleted', 'unchanged', 'not saved']),
    }),
  ),
  /**
   * The titles of other tool calls of the turn that may have changed files, e.g. shell commands. A restoration does not
   * undo their changes.
   */
  commands: z.array(z.string()),
});
export type TaskCheckpoint = z.infer<typeof checkpointSchema>;

/** The response to `GET /api/tasks/{id}/checkpoints`. */
export const taskCheckpointsSchema = z.object({
  /** The checkpoints of the task, oldest first. */
  checkpoints: z.array(checkpointSchema),
  workspace: z.string(),
  /**
   * The task of the session that has not ended. Null if there is none. A restoration is a task too, so it can start
   * only after this task has ended.
   */
  liveTask: z.nullable(z.object({ taskId: z.string(), title: z.string() })),
});
export type TaskCheckpoints = z.infer<typeof taskCheckpointsSchema>;

/** The response to `GET /api/tasks/{id}/checkpoints/{turn}`. */
export const restorePreviewSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('ready'),
    files: z.array(
      z.object({
        path: z.string(),
        change: z.enum(['created', 'changed', 'deleted']),
        /**
         * The numbers of added and removed lines. Null if the diff does not show the file, for example a binary file.
         */
        lines: z.nullable(z.object({ added: z.number(), removed: z.number() })),
      }),
    ),
    /** Files that the turns changed and that the restoration does not change. */
    left: z.array(z.object({ path: z.string(), why: z.string() })),
    /** The diff of the restoration, as in the preview of its tool call. */
    diff: z.string(),
  }),
  /**
   * A restoration is not possible, because it would lose later changes of these files. A later turn, a command or a
   * person made these changes.
   */
  z.object({ type: z.literal('changed-since'), paths: z.array(z.string()) }),
  z.object({ type: z.literal('refused'), message: z.string() }),
]);
export type RestorePreview = z.infer<typeof restorePreviewSchema>;
