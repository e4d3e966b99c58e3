/**
 * The task list of the approval page: what waits for a person, what runs and what has ended. The schemas use
 * `zod/mini`, because a web page reads them.
 */
import * as z from 'zod/mini';
import { callReferenceFields, pendingReasonSchema, sideEffectSchema } from './call-view.ts';

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.optional(z.number()),
  cacheWriteTokens: z.optional(z.number()),
  /** The cost in US dollars. Null if a price is unknown. */
  usd: z.prefault(z.nullable(z.number()), null),
});

/** The thing that a task waits for. `reply` and `sign-in` have the agent's question as text. */
export const waitingForSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('actions'),
    /** The number of all pending actions. */
    count: z.number(),
    /** The first pending actions. */
    first: z.array(
      z.object({
        ...callReferenceFields,
        shown: z.string(),
        sideEffect: sideEffectSchema,
        reason: pendingReasonSchema,
      }),
    ),
  }),
  z.object({ type: z.literal('reply'), text: z.string() }),
  z.object({ type: z.literal('sign-in'), text: z.string() }),
]);
export type WaitingFor = z.infer<typeof waitingForSchema>;

export const groupedTaskSchema = z.object({
  taskId: z.string(),
  sessionId: z.string(),
  /** The first line of the user's message. */
  title: z.string(),
  state: z.enum(['working', 'waiting', 'completed', 'canceled', 'failed', 'rejected']),
  /** RFC 3339, like `updatedAt`. */
  createdAt: z.string(),
  updatedAt: z.string(),
  /** Null if the task has none. */
  workspace: z.nullable(z.string()),
  /** The model of the newest turn. Null before the first turn. */
  model: z.nullable(z.string()),
  cost: z.object({ task: usage, session: usage }),
  /** The calls that a completed task did not do. '' if there are none. */
  notDone: z.string(),
  /** Null unless the task waits. */
  waitingFor: z.nullable(waitingForSchema),
  /** The time since which the task waits for a person. Null unless the task waits. */
  waitingSince: z.nullable(z.string()),
  /** The last line of what the agent does or has said. '' if there is none. */
  activity: z.string(),
});
export type GroupedTask = z.infer<typeof groupedTaskSchema>;

export const taskGroupSchema = z.object({
  tasks: z.array(groupedTaskSchema),
  /** The number of all tasks of this group that match the filters. */
  total: z.number(),
  /** The token of the next page. Null on the last page. */
  next: z.nullable(z.string()),
});
export type TaskGroup = z.infer<typeof taskGroupSchema>;

export const GROUPS = ['waiting', 'working', 'ended'] as const;
export type GroupName = (typeof GROUPS)[number];

/** The response to `GET /page/api/task-groups`. */
export const taskGroupsSchema = z.object({
  waiting: taskGroupSchema,
  working: taskGroupSchema,
  ended: taskGroupSchema,
  /** The newest tasks that wait, and the number of all pending actions and questions. The filters do not apply. */
  attention: z.object({ tasks: z.array(groupedTaskSchema), count: z.number() }),
  /** The values that the filters offer. */
  workspaces: z.array(z.string()),
  models: z.array(z.string()),
});
export type TaskGroups = z.infer<typeof taskGroupsSchema>;
