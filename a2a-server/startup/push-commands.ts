/** `a2a-server push failing` and `push retry`. The server may run. */
import { auditLog } from '../audit/audit-log.ts';
import { failingReceiver, failingReceivers, retriedAct } from '../push/failing-receivers.ts';
import { StoredSubscriptions } from '../push/stored-subscriptions.ts';
import { openRecords } from './open-records.ts';
import type { ServerSettings } from './settings.ts';

interface Output {
  /** Writes to standard output. */
  say: (text: string) => void;
  /** Writes to standard error. */
  note: (text: string) => void;
}

/** Where the configurations are. */
type PushPlace = Pick<ServerSettings, 'stateDir' | 'database'>;

/** Prints the receivers of push notifications that fail. @throws ProductError CONFIGURATION, STORAGE */
export async function listFailing(place: PushPlace, json: boolean, { say, note }: Output): Promise<void> {
  const receivers = await withRecords(place, async (records) =>
    failingReceivers(await new StoredSubscriptions(records).all()),
  );
  if (json) return say(JSON.stringify({ receivers }));
  if (receivers.length === 0) return note('No receiver of push notifications fails.');
  for (const { id, state, receiver, taskId, principal, since, problem } of receivers)
    say(
      `${id.slice(0, 12)}  ${state}  ${receiver}  task ${taskId}  of ${principal}  since ${since}  ${problem}`,
    );
}

/**
 * Asks the server to deliver to a failing receiver again. The server does it at once, or at its next start.
 * @param id the id of the receiver, or its beginning
 * @throws ProductError UNKNOWN_ADDRESS, CONFIGURATION, STORAGE
 */
export async function retryReceiver(place: PushPlace, id: string, { say }: Output): Promise<void> {
  const { receiver, taskId } = await withRecords(place, async (records) => {
    const subscriptions = new StoredSubscriptions(records);
    const found = failingReceiver(await subscriptions.all(), id);
    await auditLog(records).append(retriedAct(found), Date.now());
    await subscriptions.requestRetry(found.id);
    return found;
  });
  say(
    `The server tries ${receiver} again, from the first notification of task ${taskId} that it has not got.`,
  );
}

async function withRecords<Result>(
  place: PushPlace,
  act: (records: Awaited<ReturnType<typeof openRecords>>) => Promise<Result>,
): Promise<Result> {
  const records = await openRecords(place);
  try {
    return await act(records);
  } finally {
    records.close();
  }
}
