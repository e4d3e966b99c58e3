/** Reminds a model of its to-do list. The person reads the progress from this list, so it must be current. Pure. */
import { collapsedLine } from '../../shared/text/shortened-text.ts';
import { callsOfTurn, trailingTurn, type Snapshot } from './snapshot.ts';

/** The status of a task whose model gets `openTodosReminder`. */
export const TODO_REMINDER_NOTE =
  'The agent ended its work with open to-dos. It is asked once to do them, or to say why not.';

/** The maximum number of open items that the reminder names. */
const MAX_NAMED_ITEMS = 10;
const MAX_ITEM_CHARS = 200;

/** The number of turns with tool calls after which an unchanged list with open items is old. */
const OLD_TURNS = 10;

/**
 * Returns reminders for the model. The key is the number of the turn that the reminder follows. Later turns never
 * change an earlier reminder, so the prompt's prefix stays the same.
 */
export function todoReminders(snapshot: Snapshot): ReadonlyMap<number, string> {
  const told = new Map<number, string>();
  let open = 0;
  let age = 0;
  for (const exchange of snapshot.exchanges) {
    if (exchange.type !== 'turn') continue;
    const calls = callsOfTurn(snapshot, exchange.turn);
    const list = calls.findLast(({ todos }) => todos !== undefined)?.todos;
    if (list !== undefined) {
      open = list.filter(({ status }) => status !== 'done').length;
      age = 0;
    } else if (open > 0 && calls.length > 0) {
      age += 1;
      if (age % OLD_TURNS === 0) told.set(exchange.turn.turn, reminderText(open, age));
    }
  }
  return told;
}

/**
 * Returns a reminder for a model that ends its task although its list has open items. Returns undefined if the list has
 * no open items, or if the task has had such a reminder. So a model that ignores the reminder still ends its task.
 */
export function openTodosReminder(snapshot: Snapshot): string | undefined {
  const { exchanges, todos } = snapshot;
  const turn = trailingTurn(snapshot);
  if (turn?.end !== 'stop' || turn.callIds.length > 0) return undefined;
  const open = todos.filter(({ status }) => status !== 'done');
  if (open.length === 0) return undefined;
  if (exchanges.some((each) => each.type === 'turn' && each.turn.reminder !== undefined)) return undefined;
  const named = open.slice(0, MAX_NAMED_ITEMS).map(({ text }) => `- ${collapsedLine(text, MAX_ITEM_CHARS)}`);
  const more = open.length > MAX_NAMED_ITEMS ? [`- and ${String(open.length - MAX_NAMED_ITEMS)} more`] : [];
  return [
    `(You ended your work, but your to-do list has ${itemsText(open.length)}:`,
    ...named,
    ...more,
    'Do them now. Or, if an item is done or not needed, update the list and say why. Your last answer stays: do not repeat it.)',
  ].join('\n');
}

function itemsText(open: number): string {
  return open === 1 ? '1 open item' : `${String(open)} open items`;
}

function reminderText(open: number, age: number): string {
  return `(Your to-do list is ${String(age)} turns old and has ${itemsText(open)}. The person follows your work by it. Bring it up to date.)`;
}
