/** The commands `a2a-server push failing`, `push retry` and `push rotate-key`. They also work while the server runs. */
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { createAuditLog } from '../../audit/audit-log.ts';
import { requireFailingReceiver, failingReceiversOf, retryAuditAct } from '../../push/failing-receivers.ts';
import { replaceStoredPushKeys, rotateStoredPushKeys } from '../../push/stored-push-keys.ts';
import { StoredSubscriptions } from '../../push/stored-subscriptions.ts';
import type { CommandOutput } from './command-output.ts';
import type { RecordStorePlace } from '../settings/read-settings.ts';
import { withRecords } from './with-records.ts';

/** Prints the receivers to which push notifications cannot be delivered. @throws ProductError CONFIGURATION, STORAGE */
export async function printFailingReceivers(
  place: RecordStorePlace,
  json: boolean,
  { say, sayJson, note }: CommandOutput,
): Promise<void> {
  const receivers = await withRecords(place, async (records) =>
    failingReceiversOf(await new StoredSubscriptions(records).all()),
  );
  if (json) return sayJson({ receivers });
  if (receivers.length === 0) return note('No receiver of push notifications fails.');
  for (const { id, state, receiver, taskId, principal, since, problem } of receivers)
    say(
      `${id.slice(0, 12)}  ${state}  ${receiver}  task ${taskId}  of ${visibleLine(principal)}  since ${since}  ${visibleLine(problem)}`,
    );
}

/**
 * Asks the server to deliver to a failing receiver again. The server tries within seconds, or at its next start.
 * @param id the id of the receiver, or its beginning
 * @throws ProductError UNKNOWN_ADDRESS, CONFIGURATION, STORAGE
 */
export async function retryFailingReceiver(
  place: RecordStorePlace,
  id: string,
  { say }: CommandOutput,
): Promise<void> {
  const { receiver, taskId } = await withRecords(place, async (records, now) => {
    const subscriptions = new StoredSubscriptions(records);
    const found = requireFailingReceiver(await subscriptions.all(), id);
    await createAuditLog(records).append(retryAuditAct(found.receiver), now);
    await subscriptions.requestRetry(found.name);
    return found.receiver;
  });
  say(
    `The server tries ${receiver} again, from the first notification of task ${taskId} that it has not got.`,
  );
}

/**
 * Rotates the key that signs push notifications. All servers that share these records then use the new key.
 * @param revoke true if the current key must no longer be valid, e.g. because it was stolen
 */
export async function rotatePushKey(
  place: RecordStorePlace,
  revoke: boolean,
  { say }: CommandOutput,
): Promise<void> {
  const rotation = await withRecords(place, async (records, now) => {
    const done = revoke ? await replaceStoredPushKeys(records) : await rotateStoredPushKeys(records, now);
    await createAuditLog(records).append({ act: 'push.key-rotated', revoked: revoke }, now);
    return done;
  });
  say(
    rotation === undefined
      ? 'A new key signs from now on. The earlier keys are no longer published.'
      : `A new key is published, and signs from ${timeText(rotation.from)} on. The earlier key stays published until ${timeText(rotation.oldUntil)}.`,
  );
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
