/** An append as its writer meant it, checked and turned to text before it waits for a commit of which it is one of many. */
import { messageOf, ProductError } from '../../shared/errors.ts';
import { deadlineAfter } from '../task/expiry.ts';
import { stateOf } from '../task/fold.ts';
import { TERMINAL_STATES, type StateName } from '../task/snapshot.ts';
import type { Append } from './journal.ts';
import { titleFrom } from './title.ts';

/** In UTF-16 code units: what is longer than this no request can have brought, and no database row should hold. */
const LONGEST_EVENT = 64 * 1024 * 1024;

export interface PreparedAppend extends Append {
  /** JSON of each event. */
  bodies: readonly string[];
  /** The state the events put the task in; undefined when they leave it as it is. */
  moves: StateName | undefined;
  /** The title the events give a task that has none. */
  title: string;
  /** The deadline they give it, null to take one away; undefined when they leave it as it is. */
  deadline: number | null | undefined;
}

/**
 * @throws ProductError MALFORMED, TOO_LARGE for what cannot be stored
 * @throws RangeError for what no correct writer asks: no events, a task that does not begin with its creation, anything
 * after an end (J3), or a state its events do not lead to (J2)
 */
export function prepareAppend(append: Append): PreparedAppend {
  const { events, expectedSeq } = append;
  if (events.length === 0) throw new RangeError('an append carries at least one event');
  if ((expectedSeq === 0) !== (events[0]?.type === 'task.created')) {
    throw new RangeError('task.created is the first event of a task, and only that');
  }
  const before = stateOf(events.slice(0, -1));
  if (before !== undefined && TERMINAL_STATES.has(before)) {
    throw new RangeError(`an event follows the end of the task (${before})`);
  }
  const moves = stateOf(events);
  if (moves !== undefined && moves !== append.state) {
    throw new RangeError(`the events lead to ${moves}, not to ${append.state}`);
  }
  for (const key of keysOf(append)) requireStorable(key);
  const [title, deadline] = [titleFrom(events), deadlineAfter(events)];
  return { ...append, bodies: events.map(serialize), moves, title, deadline };
}

/** Whether a database gives this text back as it was: neither NUL nor half a surrogate pair survives in one. */
export function isStorable(key: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(key);
}

function keysOf({ taskId, events: [first], command }: Append): string[] {
  const created = first?.type === 'task.created' ? [first.sessionId, first.principal] : [];
  return [taskId, ...created, ...(command ? [command.principal, command.messageId, command.bodyHash] : [])];
}

function requireStorable(key: string): void {
  if (isStorable(key)) return;
  throw new ProductError(
    'MALFORMED',
    `The id ${JSON.stringify(key.slice(0, 100))} holds a character that cannot be stored: choose another id.`,
  );
}

function serialize(event: unknown): string {
  const body = stringify(event);
  if (body.length > LONGEST_EVENT) {
    throw new ProductError('TOO_LARGE', `An event of ${body.length} characters is too long to be stored.`);
  }
  return body;
}

function stringify(event: unknown): string {
  try {
    return JSON.stringify(event);
  } catch (error) {
    // Nested too deep for the stack, or longer than a string may be.
    throw new ProductError('TOO_LARGE', `An event cannot be stored: ${messageOf(error)}.`, { cause: error });
  }
}
