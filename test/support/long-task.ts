/** Writes a task with thousands of events: two turns with a tool call in between. */
import type { Journal } from '../../a2a-server/journal/journal.ts';
import type { JournalEntry, TaskEvent } from '../../a2a-server/task/events.ts';
import { beginning, continuing, delta, message, working } from './journal-samples.ts';

const TEXTS = ['x', '', '\0', 'half a pair \uD83D', '👩‍👩‍👧', '\u2028 "\\', 'word '.repeat(100)];
const AT_ONCE = 100;

const nextTurn = (text: string): TaskEvent => ({ type: 'text.delta', turn: 2, text });

const output = (text: string): TaskEvent => ({
  type: 'tool.output',
  callId: 'call-1',
  tool: 'run-shell-command',
  title: 'Run a command',
  toolId: 'tool-1',
  text,
});

function pieces(make: (text: string) => TaskEvent, count: number): TaskEvent[] {
  return Array.from({ length: count }, (_, index) => make(TEXTS[index % TEXTS.length] ?? ''));
}

/** Adds the task, still working. @param tick called from time to time; some events have the same time */
export async function addLongTask(
  journal: Journal,
  taskId: string,
  tick: () => void,
): Promise<JournalEntry[]> {
  const events = [
    working,
    ...pieces(delta, 1_700),
    ...pieces(output, 900),
    message('in between'),
    ...pieces(nextTurn, 500),
    delta('of the turn before'),
    ...pieces(nextTurn, 5),
  ];
  await journal.append(beginning(taskId));
  let seq = 2;
  for (let from = 0; from < events.length; from += AT_ONCE) {
    if (from % 300 === 0) tick();
    const some = events.slice(from, from + AT_ONCE);
    const result = await journal.append(continuing(taskId, seq, some, 'working'));
    if (result.type !== 'appended') throw new Error(`the long task could not be added: ${result.type}`);
    seq += some.length;
  }
  return journal.read(taskId, 0, seq);
}

/** @returns the number of entries checked */
export async function maintainAll(journal: Journal): Promise<number> {
  let looked = 0;
  for (let more = 1; more > 0; looked += more) more = await journal.maintain(700);
  return looked;
}
