/**
 * Decides what a subscription sends next. A client of A2A 1.0 gets the task, and then each event. A client of A2A 0.3
 * gets the whole task whenever its state has changed. A chat gets a message when the task has waited for some time or
 * has ended.
 */
import type { Clock } from '../../shared/runtime/clock.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { seekJournalPosition } from '../executor/queries/seek-journal-position.ts';
import type { TaskService } from '../executor/task-service.ts';
import type { TaskRow } from '../journal/journal.ts';
import type { JournalEntry } from '../task/events.ts';
import { taskStateAfter } from '../task/fold.ts';
import { eventCountAfter, type EventCount } from '../task/generation.ts';
import { isTerminal, type Snapshot, type StateName, TERMINAL_STATES } from '../task/snapshot.ts';
import type { PushSubscription } from './push-subscription.ts';

/** The number of journal entries in one read. */
const READ_AT_ONCE = 100;

/** Creates the bodies of notifications. */
export interface PushBodyBuilder {
  /** Returns the body about the task's present state. Undefined if a chat needs no message about this state. */
  ofTask(snapshot: Snapshot, subscription: PushSubscription): string | undefined;
  /**
   * Returns the body for one entry. Returns undefined for an entry that clients do not need. Only A2A 1.0 has such
   * bodies.
   * @param counted the event counts up to this entry. The generation of the task (`generation.ts`) is computed from
   * them.
   */
  ofEntry(entry: JournalEntry, subscription: PushSubscription, counted: EventCount): string | undefined;
}

export interface PushPostParts {
  bodies: PushBodyBuilder;
  tasks: Pick<TaskService, 'row' | 'snapshot' | 'entries'>;
  clock: Pick<Clock, 'now'>;
}

/** One post, and the last journal entry that it covers. `body` is undefined if clients do not need the entry. */
export interface PushPost {
  seq: number;
  body: string | undefined;
  /**
   * The event counts at `seq`. The generation of the task (`generation.ts`) is computed from them. Absent for A2A 0.3,
   * which has no generations.
   */
  counted?: EventCount;
}

/**
 * Returns the next posts. `nothing` means that the receiver needs none now, or that the server has stopped trying to
 * reach it. `over` means that the task will have no further entries, or that a chat has its message. `until` is the
 * time of the next post, in milliseconds since 1970.
 */
export async function readNextPushPosts(
  parts: PushPostParts,
  subscription: PushSubscription,
): Promise<readonly PushPost[] | 'nothing' | 'over' | { until: number }> {
  const { tasks } = parts;
  const { taskId, owner, cursor, delivery } = subscription;
  const reader = { principal: owner };
  try {
    if (delivery.type === 'dead') {
      await tasks.row(taskId, reader);
      return 'nothing';
    }
    if (cursor === null) return await taskNow(parts, subscription);
    const entries = await tasks.entries(taskId, reader, { after: cursor, limit: READ_AT_ONCE });
    if (entries.length > 0) return await postsOf(parts, entries, subscription);
    const row = await tasks.row(taskId, reader);
    return row.seq === cursor && isOver(row.state, subscription) ? 'over' : 'nothing';
  } catch (error) {
    // The task was deleted. Its notifications end too.
    if (error instanceof ProductError && error.reason === 'UNKNOWN_TASK') return 'over';
    throw error;
  }
}

/**
 * True if `readNextPushPosts` would certainly return `nothing`. This function needs only the row of the task, so the
 * caller saves the queries of `readNextPushPosts`.
 * @param row the row of the task. Undefined if the task was deleted
 */
export function hasNothingToPush(subscription: PushSubscription, row: TaskRow | undefined): boolean {
  if (row === undefined) return false;
  if (subscription.delivery.type === 'dead') return true;
  return row.seq === subscription.cursor && !isOver(row.state, subscription);
}

/**
 * True if the subscription is no longer needed. A subscription of a chat ends when the task waits for a person, so that
 * a waiting task costs no record. The next change of the task's state creates a new subscription.
 */
function isOver(state: StateName, { chat }: PushSubscription): boolean {
  return TERMINAL_STATES.has(state) || (chat !== undefined && state !== 'submitted' && state !== 'working');
}

async function postsOf(
  parts: PushPostParts,
  entries: readonly JournalEntry[],
  subscription: PushSubscription,
): Promise<readonly PushPost[] | 'nothing' | { until: number }> {
  if (subscription.wire === '1.0') {
    let counted = await countedAt(parts, subscription);
    return entries.map((entry) => {
      counted = eventCountAfter(counted, entry.event);
      return { seq: entry.seq, body: parts.bodies.ofEntry(entry, subscription, counted), counted };
    });
  }
  // One post is enough here, because it contains the task's state after all these entries.
  if (taskStateAfter(entries.map(({ event }) => event)) !== undefined) return taskNow(parts, subscription);
  // Without a change of the state, the position is stored only after `READ_AT_ONCE` entries. Reading fewer entries
  // again costs less than storing the position for each piece of text.
  return entries.length < READ_AT_ONCE ? 'nothing' : entries.map(({ seq }) => ({ seq, body: undefined }));
}

/** Returns the number of events up to the cursor. An old record has no such number, so the journal is read once. */
async function countedAt({ tasks }: PushPostParts, subscription: PushSubscription): Promise<EventCount> {
  const { taskId, owner, cursor, counted } = subscription;
  if (counted !== undefined) return counted;
  const task = { taskId, requester: { principal: owner } };
  return (await seekJournalPosition(tasks, task, ({ seq }) => seq === cursor)).counted;
}

async function taskNow(
  { tasks, bodies, clock }: PushPostParts,
  subscription: PushSubscription,
): Promise<readonly PushPost[] | { until: number }> {
  const { taskId, owner, wire, chat } = subscription;
  const snapshot = await tasks.snapshot(taskId, { principal: owner });
  const { seq, counted, updatedAt } = snapshot;
  const body = bodies.ofTask(snapshot, subscription);
  if (chat !== undefined && body !== undefined && !isTerminal(snapshot)) {
    const until = updatedAt + chat.afterMs;
    if (until > clock.now()) return { until };
  }
  return [{ seq, body, ...(wire === '1.0' && { counted }) }];
}
