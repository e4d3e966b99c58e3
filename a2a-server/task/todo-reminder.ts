/**
 * Reminds a model of its to-do list. The person reads the progress from that list, so the list must be current. Pure.
 */
import { callsOf, type Snapshot } from './snapshot.ts';

/** The number of turns with calls after which an open list counts as old. */
const OLD_TURNS = 10;

/**
 * Returns the reminders for the model. The key is the number of the turn before the reminder. Later turns change no
 * earlier reminder, so the beginning of the prompt stays the same.
 */
export function todoReminders(snapshot: Snapshot): ReadonlyMap<number, string> {
  const told = new Map<number, string>();
  let open = 0;
  let age = 0;
  for (const exchange of snapshot.exchanges) {
    if (exchange.type !== 'turn') continue;
    const calls = callsOf(snapshot, exchange.turn);
    const list = calls.findLast(({ todos }) => todos !== undefined)?.todos;
    if (list !== undefined) {
      open = list.filter(({ status }) => status !== 'done').length;
      age = 0;
    } else if (open > 0 && calls.length > 0) {
      age += 1;
      if (age % OLD_TURNS === 0) told.set(exchange.turn.turn, reminder(open, age));
    }
  }
  return told;
}

function reminder(open: number, age: number): string {
  const items = open === 1 ? '1 open item' : `${String(open)} open items`;
  return `(Your to-do list is ${String(age)} turns old and has ${items}. The person follows your work by it. Bring it up to date.)`;
}
