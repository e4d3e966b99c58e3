/** One delegation in the outbox. */
import { z } from 'zod';
import { TASK_STATE_NAMES } from '../dialects/observation.ts';
import { commandCall } from '../../shared/protocol/agent-command.ts';
import { taskSettings } from '../../shared/protocol/tool-approval.ts';

/**
 * Where a delegation stands.
 * - `sending`: whether the message has reached the agent is not known.
 * - `accepted`: the agent has made it this task.
 * - `lost`: the agent cannot say whether it has the message; the person was told so.
 * - `collected`: the client has the result; the handle of the session is kept.
 */
export const delegationState = z.discriminatedUnion('type', [
  z.object({ type: z.literal('sending') }),
  z.object({ type: z.literal('accepted'), taskId: z.string(), sessionId: z.string() }),
  z.object({ type: z.literal('lost'), message: z.string() }),
  z.object({
    type: z.literal('collected'),
    taskId: z.string(),
    sessionId: z.string(),
    /** How the task ended. */
    ended: z.enum(TASK_STATE_NAMES),
  }),
]);
export type DelegationState = z.infer<typeof delegationState>;

export const outboxEntry = z.object({
  /** The A2A message id: the same at every attempt, by whichever bridge (B1). */
  messageId: z.string().regex(/^[A-Za-z0-9-]{1,100}$/),
  agent: z.string(),
  /** The first words of the text: they stay when the text has gone. */
  title: z.string(),
  text: z.string(),
  settings: taskSettings,
  /** It is no work for a model: the agent carries this out. `text` says the same in a line. */
  command: commandCall.optional(),
  /** The session and task it goes on with, if any: part of the message, so the same at every attempt too. */
  sessionId: z.string().nullable(),
  taskId: z.string().nullable(),
  /** RFC 3339. */
  createdAt: z.string(),
  state: delegationState,
  /** A person has cancelled it before its task was known: the reason. */
  cancel: z.string().nullable(),
  /** False until the client is known to have the answer of the call that made it. */
  answered: z.boolean(),
});
export type OutboxEntry = z.infer<typeof outboxEntry>;

/** What is delegated. */
export type Work = Pick<OutboxEntry, 'text' | 'settings' | 'command'>;
