import { ProductError } from '../../../shared/runtime/errors.ts';
import type { CommandRefusal } from '../../task/command-outcome.ts';
import type { Requester } from '../../access/requester.ts';
import type { Decider } from '../../task/events.ts';
import type { Snapshot } from '../../task/snapshot.ts';
import type { TaskAppendResult } from '../task-journal/task-journal.ts';
import { unknownTaskError } from '../queries/task-lookup.ts';

/** Returns who decides, for the journal: the name and the channel, but not the roles. */
export function toDecider({ principal, channel }: Requester & { channel: string }): Decider {
  return { principal, channel };
}

export function pickRequesterGroups({ groups }: Requester): Pick<Requester, 'groups'> {
  return groups === undefined ? {} : { groups };
}

/**
 * Returns the result of a command that was applied.
 * @throws ProductError if the command was refused or the task is unknown
 */
export function requireAppliedCommand(
  changed: TaskAppendResult | undefined,
  taskId: string,
): Extract<TaskAppendResult, { snapshot: Snapshot }> {
  if (changed === undefined) throw unknownTaskError(taskId);
  if (changed.type === 'refuse') throw toProductError(changed);
  if (changed.type === 'repeated') throw new Error('a command without a key cannot be repeated');
  return changed;
}

export function toCommandRefusal({ reason, message, facts }: ProductError): CommandRefusal {
  return { type: 'refuse', reason, message, facts };
}

export function toProductError({ reason, message, facts }: CommandRefusal): ProductError {
  return new ProductError(reason, message, facts && { facts });
}
