/** Validates and serialises an append before its commit. */
import type { CommitGroupLimit } from '../../shared/runtime/commit-queue.ts';
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import { deadlineAfterEvents } from '../task/expiry.ts';
import { taskStateAfter } from '../task/fold.ts';
import { TERMINAL_STATES, type StateName } from '../task/snapshot.ts';
import type { AppendRequest } from './journal.ts';
import { taskTitle } from './build-task-row.ts';

/** The maximum length of an event, in UTF-16 code units. Every request to the server is shorter. */
const MAX_EVENT_UNITS = 64 * 1024 * 1024;

export interface PreparedAppend extends AppendRequest {
  bodies: readonly string[];
  /** The task's state after the events. Undefined if they do not change the state. */
  moves: StateName | undefined;
  /** The title to store if the task has no title yet. */
  title: string;
  /** The task's new deadline. Null removes the deadline. Undefined keeps it. */
  deadline: number | null | undefined;
}

/** The number of bytes whose writing takes as long as writing one event. */
const BYTES_PER_EVENT = 4_096;

/** Limits the appends of one commit. With this limit, a commit of short events blocks the event loop for about 5 ms. */
export const COMMIT_LIMIT: CommitGroupLimit<PreparedAppend> = {
  weigh({ events, bodies, contents = [] }) {
    const lengths = [...bodies, ...contents.map(({ bytes }) => bytes)].map(({ length }) => length);
    return lengths.reduce((weight, length) => weight + length / BYTES_PER_EVENT, events.length);
  },
  weightPerCommit: 2_000,
};

/**
 * Validates an append, and computes the values to store.
 * @throws ProductError MALFORMED or TOO_LARGE if the append cannot be stored
 * @throws RangeError for a bug of the writer: no events, a wrong first event, an event after the end of the task (J3),
 * or a state that does not follow from the events (J2)
 */
export function prepareAppend(append: AppendRequest): PreparedAppend {
  const { events, expectedSeq } = append;
  if (events.length === 0) throw new RangeError('an append carries at least one event');
  if ((expectedSeq === 0) !== (events[0]?.type === 'task.created')) {
    throw new RangeError('task.created is the first event of a task, and only that');
  }
  const before = taskStateAfter(events.slice(0, -1));
  if (before !== undefined && TERMINAL_STATES.has(before)) {
    throw new RangeError(`an event follows the end of the task (${before})`);
  }
  const moves = taskStateAfter(events);
  if (moves !== undefined && moves !== append.state) {
    throw new RangeError(`the events lead to ${moves}, not to ${append.state}`);
  }
  for (const key of keysOf(append)) requireStorable(key);
  const [title, deadline] = [taskTitle(events), deadlineAfterEvents(events)];
  return { ...append, bodies: events.map(serialize), moves, title, deadline };
}

/** True if a database can store the text unchanged, because the text contains neither NUL nor a lone surrogate. */
export function isStorableText(key: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(key);
}

function keysOf({ taskId, events: [first], command }: AppendRequest): string[] {
  const created = first?.type === 'task.created' ? [first.sessionId, first.principal] : [];
  return [taskId, ...created, ...(command ? [command.principal, command.messageId, command.bodyHash] : [])];
}

function requireStorable(key: string): void {
  if (isStorableText(key)) return;
  throw new ProductError(
    'MALFORMED',
    `The id ${JSON.stringify(key.slice(0, 100))} contains a character that cannot be stored. Choose another id.`,
  );
}

function serialize(event: unknown): string {
  const body = stringify(event);
  if (body.length > MAX_EVENT_UNITS) {
    throw new ProductError(
      'TOO_LARGE',
      `An event of ${body.length} characters is too long to store. Send it in smaller parts.`,
    );
  }
  return body;
}

function stringify(event: unknown): string {
  try {
    return JSON.stringify(event);
  } catch (error) {
    // The nesting of the event is too deep for the stack, or its JSON is too long for a string.
    throw new ProductError('TOO_LARGE', `An event cannot be stored: ${errorMessageOf(error)}.`, {
      cause: error,
    });
  }
}
