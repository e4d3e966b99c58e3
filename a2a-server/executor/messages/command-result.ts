import { ProductError } from '../../../shared/runtime/errors.ts';
import type { CommandRefusal } from '../../task/command-outcome.ts';
import type { Requester } from '../../access/requester.ts';
import type { Decider } from '../../task/events.ts';
import type { Snapshot } from '../../task/snapshot.ts';
import type { ChangeResult } from '../task-log/task-log.ts';
import { unknownTask } from '../queries/task-lookup.ts';

/** Returns who decides, for the journal: the name and the channel, but not the roles. */
export function decider({ principal, channel }: Requester & { channel: string }): Decider {
  return { principal, channel };
}

export function groupsOf({ groups }: Requester): Pick<Requester, 'groups'> {
  return groups === undefined ? {} : { groups };
}

/**
 * Returns the result of a command that was applied.
 * @throws ProductError if the command was refused or the task is unknown
 */
export function requireApplied(
  changed: ChangeResult | undefined,
  taskId: string,
): Extract<ChangeResult, { snapshot: Snapshot }> {
  if (changed === undefined) throw unknownTask(taskId);
  if (changed.type === 'refuse') throw toProductError(changed);
  if (changed.type === 'repeated') throw new Error('a command without a key cannot be repeated');
  return changed;
}

export function toRefusal({ reason, message, facts }: ProductError): CommandRefusal {
  return { type: 'refuse', reason, message, facts };
}

export function toProductError({ reason, message, facts }: CommandRefusal): ProductError {
  return new ProductError(reason, message, facts && { facts });
}
