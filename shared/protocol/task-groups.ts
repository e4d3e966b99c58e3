/**
 * The task list of the approval page, in three groups: tasks that wait for a person, that run, and that have ended. The
 * schemas use `zod/mini`, because a web page reads them.
 */
import { tokenUsageSchema } from './cost-report.ts';
import * as z from 'zod/mini';
import { callReferenceFields, pendingReasonSchema, sideEffectSchema } from './call-view.ts';
import { demandedApproverSchema } from './demanded-approver.ts';

/** What a task waits for. `reply` and `sign-in` contain the agent's question as text. */
const waitingForSchema = z.discriminatedUnion('type', [
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
    /** Says who may decide. Absent if the reader may approve or answer at least one of the actions. */
    approver: z.optional(demandedApproverSchema),
  }),
  z.object({ type: z.literal('reply'), text: z.string() }),
  z.object({ type: z.literal('sign-in'), text: z.string() }),
]);
export type WaitingFor = z.infer<typeof waitingForSchema>;

const groupedTaskSchema = z.object({
  taskId: z.string(),
  sessionId: z.string(),
  /** The first line of the user's message. If the message is a JSON plan, the names of its tools. */
  title: z.string(),
  state: z.enum(['working', 'waiting', 'completed', 'canceled', 'failed', 'rejected']),
  /** The time at which the task was created, in RFC 3339. `updatedAt` has the same format. */
  createdAt: z.string(),
  updatedAt: z.string(),
  /** The working directory of the task. Null if the task has none. */
  workspace: z.nullable(z.string()),
  /** The model of the newest turn. Null before the first turn. */
  model: z.nullable(z.string()),
  cost: z.object({ task: tokenUsageSchema, session: tokenUsageSchema }),
  /** Names the tool calls that a completed task did not do. '' if there are none. */
  notDone: z.string(),
  /** What the task waits for. Null unless it waits. */
  waitingFor: z.nullable(waitingForSchema),
  /** The time at which the task began to wait for a person. Null unless it waits. */
  waitingSince: z.nullable(z.string()),
  /**
   * What the task does or did last, in one line: the running tool call, the agent's text, or its message. '' if
   * unknown.
   */
  activity: z.string(),
});
export type GroupedTask = z.infer<typeof groupedTaskSchema>;

export const taskGroupPageSchema = z.object({
  tasks: z.array(groupedTaskSchema),
  /** The number of all tasks of this group that match the filters. */
  total: z.number(),
  /** The page token of the next page. Null on the last page. */
  next: z.nullable(z.string()),
});
export type TaskGroupPage = z.infer<typeof taskGroupPageSchema>;

export const TASK_GROUPS = ['waiting', 'working', 'ended'] as const;
export type TaskGroupName = (typeof TASK_GROUPS)[number];

/** The response to `GET /page/api/task-groups`. */
export const taskGroupsSchema = z.object({
  /** The principal that is signed in on the page, e.g. `acme/ann`. '' from an older server. */
  principal: z.prefault(z.string(), ''),
  waiting: taskGroupPageSchema,
  working: taskGroupPageSchema,
  ended: taskGroupPageSchema,
  /**
   * The newest tasks that wait for the reader, and the number of all pending actions and questions that the reader may
   * decide. The filters do not apply here.
   */
  attention: z.object({ tasks: z.array(groupedTaskSchema), count: z.number() }),
  /** The workspaces and the models by which a person can filter. */
  workspaces: z.array(z.string()),
  models: z.array(z.string()),
});
export type TaskGroups = z.infer<typeof taskGroupsSchema>;
