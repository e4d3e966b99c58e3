/** One delegation in the outbox. */
import { z } from 'zod';
import { TASK_STATE_NAMES } from '../dialects/observation.ts';
import { commandCallSchema } from '../../shared/protocol/agent-command.ts';
import { taskSettingsSchema } from '../../shared/protocol/tool-approval.ts';

/**
 * The state of a delegation.
 * - `sending`: it is unknown whether the agent has the message.
 * - `accepted`: the agent has made this task from the message.
 * - `lost`: the agent cannot say whether it has the message. The person has been informed.
 * - `collected`: the client has the result. The session's id is kept.
 */
export const delegationStateSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('sending') }),
  z.object({ type: z.literal('accepted'), taskId: z.string(), sessionId: z.string() }),
  z.object({ type: z.literal('lost'), message: z.string() }),
  z.object({
    type: z.literal('collected'),
    taskId: z.string(),
    sessionId: z.string(),
    /** The task's final state. */
    ended: z.enum(TASK_STATE_NAMES),
  }),
]);

/** A file of a message. The outbox stores its content beside the entry. */
const attachedFileSchema = z.object({
  name: z.string(),
  /** The type of the content. `text/plain`: any text in UTF-8. */
  mediaType: z.string(),
  /** SHA-256 (hex) of the content. */
  hash: z.string(),
});
export type AttachedFile = z.infer<typeof attachedFileSchema>;

export const outboxEntrySchema = z.object({
  /** The A2A message id. It is the same in every attempt of every bridge (B1). */
  messageId: z.string().regex(/^[A-Za-z0-9-]{1,100}$/),
  agent: z.string(),
  /** The first words of the text. They stay when the text is deleted. */
  title: z.string(),
  text: z.string(),
  settings: taskSettingsSchema,
  /** A command, which the agent runs without a model. `text` is the command as a line. */
  command: commandCallSchema.optional(),
  files: z.array(attachedFileSchema).optional(),
  /** The session and task of the message, if any. They are the same in every attempt. */
  sessionId: z.string().nullable(),
  taskId: z.string().nullable(),
  /** RFC 3339. */
  createdAt: z.string(),
  state: delegationStateSchema,
  /** The reason of a cancel that the agent has not carried out yet. */
  cancel: z.string().nullable(),
  /** Whether the client has confirmed the answer of the call that delegated. */
  answered: z.boolean(),
});
export type OutboxEntry = z.infer<typeof outboxEntrySchema>;

/** The content of a delegation. */
export type DelegatedWork = Pick<OutboxEntry, 'text' | 'settings' | 'command' | 'files'> & {
  /** The contents of the files, by hash. */
  contents?: ReadonlyMap<string, Uint8Array>;
};
