/** The schema of one delegation in the outbox. */
import { z } from 'zod';
import { TASK_STATE_NAMES } from '../dialects/observation.ts';
import { commandCallSchema } from '../../shared/protocol/agent-command.ts';
import { taskSettingsSchema } from '../../shared/protocol/tool-approval.ts';

/**
 * The state of a delegation.
 * - `sending`: it is unknown whether the agent has the message.
 * - `accepted`: the agent has created this task for the message.
 * - `lost`: it will remain unknown whether the agent has the message. The person was informed.
 * - `collected`: the client has the result. Only the id of the session is still needed.
 */
export const delegationStateSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('sending') }),
  z.object({ type: z.literal('accepted'), taskId: z.string(), sessionId: z.string() }),
  z.object({ type: z.literal('lost'), message: z.string() }),
  z.object({
    type: z.literal('collected'),
    taskId: z.string(),
    sessionId: z.string(),
    ended: z.enum(TASK_STATE_NAMES),
  }),
]);

/**
 * Returns the id with which the session of an accepted message is found: the id of its task. An agent that answers with
 * a message creates no task. In that case, returns the id of the session.
 */
export function acceptedHandle({ taskId, sessionId }: { taskId: string; sessionId: string }): string {
  return taskId === '' ? sessionId : taskId;
}

/** A file of a message. The content is in another table. */
const attachedFileSchema = z.object({
  name: z.string(),
  /** The media type of the file. `text/plain` means any text in UTF-8. */
  mediaType: z.string(),
  /** The SHA-256 (hex) of the content. */
  hash: z.string(),
});
export type AttachedFile = z.infer<typeof attachedFileSchema>;

export const outboxEntrySchema = z.object({
  /**
   * The id of the A2A message. B1: a delegation happens exactly once. So the id is the same in every attempt of every
   * bridge.
   */
  messageId: z.string().regex(/^[A-Za-z0-9-]{1,100}$/),
  agent: z.string(),
  /** The first words of the text. They are kept when the text is deleted. */
  title: z.string(),
  text: z.string(),
  settings: taskSettingsSchema,
  /** A command, which the agent runs without a model. `text` is the same command as one line. */
  command: commandCallSchema.optional(),
  files: z.array(attachedFileSchema).optional(),
  /**
   * The trace of the tool call that delegated the work. So the trace continues even if another bridge sends the
   * message.
   */
  trace: z.object({ traceparent: z.string(), tracestate: z.exactOptional(z.string()) }).optional(),
  /** The session and the task that the message names. They are the same in every attempt. */
  sessionId: z.string().nullable(),
  taskId: z.string().nullable(),
  /** The absolute path of the directory in which the person delegated the task. Absent in entries of older versions. */
  delegatedIn: z.string().optional(),
  /** The time of the delegation in RFC 3339. */
  createdAt: z.string(),
  state: delegationStateSchema,
  /** The reason of a cancel that the agent has not carried out yet. Null if there is none. */
  cancel: z.string().nullable(),
  /** True if the client has confirmed the reply to the tool call that delegated the work. */
  answered: z.boolean(),
});
export type OutboxEntry = z.infer<typeof outboxEntrySchema>;

/** The work that a tool call delegates. */
export type DelegatedWork = Pick<OutboxEntry, 'text' | 'settings' | 'command' | 'files'> & {
  /** The contents of the files, by hash. */
  contents?: ReadonlyMap<string, Uint8Array>;
};
