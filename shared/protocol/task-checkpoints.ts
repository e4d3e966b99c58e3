/**
 * The checkpoints of a task, and what a restoration would change. The schemas use `zod/mini`, because a web page reads
 * them.
 */
import * as z from 'zod/mini';

const checkpointSchema = z.object({
  /** The argument of the command `checkpoint restore`. */
  id: z.string(),
  turn: z.number(),
  /** The time directly before the turn's first change, in milliseconds since 1970. */
  at: z.number(),
  files: z.array(
    z.object({
      path: z.string(),
      change: z.enum(['created', 'changed', 'deleted', 'unchanged', 'not saved']),
    }),
  ),
  /** The titles of the turn's other calls that may have changed files. A restoration does not undo these changes. */
  commands: z.array(z.string()),
});
export type TaskCheckpoint = z.infer<typeof checkpointSchema>;

/** The response to `GET /api/tasks/{id}/checkpoints`. */
export const taskCheckpointsSchema = z.object({
  /** Oldest first. */
  checkpoints: z.array(checkpointSchema),
  workspace: z.string(),
  /** The session's task that has not ended. A restoration is a task, so it can start only after the end of this task. */
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
        /** The counts of lines. Null if the diff does not show the file, for example a binary file. */
        lines: z.nullable(z.object({ added: z.number(), removed: z.number() })),
      }),
    ),
    /** Files that the turns changed but the restoration does not change. */
    left: z.array(z.object({ path: z.string(), why: z.string() })),
    /** The same text as in the preview of the restoration's tool call. */
    diff: z.string(),
  }),
  /** A later turn, a command or a person has changed these files. A restoration would lose that change. */
  z.object({ type: z.literal('changed-since'), paths: z.array(z.string()) }),
  z.object({ type: z.literal('refused'), message: z.string() }),
]);
export type RestorePreview = z.infer<typeof restorePreviewSchema>;
