import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Journal, RecordedCommand } from '../../journal/journal.ts';
import type { Snapshot } from '../../task/snapshot.ts';
import type { ClientMessage } from './client-message.ts';

export interface AcceptedMessage {
  taskId: string;
  sessionId: string;
  /**
   * The position in the journal at which the client's stream begins. It is the last `seq` of this command. For a
   * repeated message, it is the task's last `seq`. If the task waits for other decisions at this position, the stream
   * ends at once.
   */
  seq: number;
  /** The task at `seq`. Absent if it is not loaded. */
  snapshot?: Snapshot;
}

/**
 * Answers a repeated message with the task of its first copy. The returned `seq` is the task's last `seq`, so that the
 * client sees no question that a person has already decided. A different body with the same message id is a conflict.
 */
export async function acceptRepeated(
  { taskId, sessionId, bodyHash, seq }: RecordedCommand,
  incoming: Pick<ClientMessage, 'message' | 'bodyHash'>,
  journal: Pick<Journal, 'row'>,
): Promise<AcceptedMessage> {
  if (bodyHash !== incoming.bodyHash)
    throw new ProductError(
      'MESSAGE_CONFLICT',
      `Message id ${incoming.message.messageId} belongs to another message, in task ${taskId}. Nothing was changed. Send this message with a new id.`,
      { facts: { taskId, sessionId } },
    );
  const row = await journal.row(taskId);
  return { taskId, sessionId, seq: row?.seq ?? seq };
}
