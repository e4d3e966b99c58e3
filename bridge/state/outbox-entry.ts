/** Defines one delegation in the outbox. */
import { z } from 'zod';
import { TASK_STATE_NAMES } from '../dialects/observation.ts';
import { commandCallSchema } from '../../shared/protocol/agent-command.ts';
import { taskSettingsSchema } from '../../shared/protocol/tool-approval.ts';

/**
 * The state of a delegation.
 * - `sending`: the agent may or may not have the message.
 * - `accepted`: the agent has created this task from the message.
 * - `lost`: whether the agent has the message will stay unknown. The person was informed.
 * - `collected`: the client has the result. Only the session's id is still needed.
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

/** A file of a message. The outbox stores its content in another table. */
const attachedFileSchema = z.object({
  name: z.string(),
  /** The media type. `text/plain` stands for any UTF-8 text. */
  mediaType: z.string(),
  /** SHA-256 (hex) of the content. */
  hash: z.string(),
});
export type AttachedFile = z.infer<typeof attachedFileSchema>;

export const outboxEntrySchema = z.object({
  /** The A2A message id, the same in every attempt of every bridge (B1). */
  messageId: z.string().regex(/^[A-Za-z0-9-]{1,100}$/),
  agent: z.string(),
  /** The first words of the text. They remain when the text is deleted. */
  title: z.string(),
  text: z.string(),
  settings: taskSettingsSchema,
  /** A command, which the agent runs without a model. `text` is the same command as one line. */
  command: commandCallSchema.optional(),
  files: z.array(attachedFileSchema).optional(),
  /** The trace of the delegating call, so that it continues if another bridge sends the message. */
  trace: z.object({ traceparent: z.string(), tracestate: z.exactOptional(z.string()) }).optional(),
  /** The session and task that the message names, the same in every attempt. */
  sessionId: z.string().nullable(),
  taskId: z.string().nullable(),
  /** The absolute path of the directory in which the person delegated. Unknown for entries of older versions. */
  delegatedIn: z.string().optional(),
  /** RFC 3339. */
  createdAt: z.string(),
  state: delegationStateSchema,
  /** The reason of a cancel that the agent has not carried out yet. */
  cancel: z.string().nullable(),
  /** True if the client has confirmed the reply to its delegating call. */
  answered: z.boolean(),
});
export type OutboxEntry = z.infer<typeof outboxEntrySchema>;

/** The work that a call delegates. */
export type DelegatedWork = Pick<OutboxEntry, 'text' | 'settings' | 'command' | 'files'> & {
  /** The contents of the files, by hash. */
  contents?: ReadonlyMap<string, Uint8Array>;
};
