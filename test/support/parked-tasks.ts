/** Adds many parked tasks to a journal, copied from one that the executor parked. */
import type { Journal } from '../../a2a-server/journal/journal.ts';
import type { JournalEntry, TaskEvent } from '../../a2a-server/task/events.ts';

/** Concurrent appends, so that they share commits. */
const AT_ONCE = 500;

/** @returns the file of a task. Undefined gives the file of the first task; the other names contain a number. */
export const parkedTaskFile = (index: number | undefined): string =>
  index === undefined ? 'effects.txt' : `effects-${index}.txt`;

export const parkedTaskId = (index: number): string => `task-parked-${index}`;

/** Adds `count` tasks to the journal, each with its own session and file. */
export async function addParkedTasks(
  journal: Journal,
  entries: readonly JournalEntry[],
  count: number,
): Promise<void> {
  const body = JSON.stringify(entries.map(({ event }) => event));
  for (let from = 0; from < count; from += AT_ONCE) {
    const indexes = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => from + i);
    await Promise.all(indexes.map((index) => add(journal, body, index)));
  }
}

async function add(journal: Journal, body: string, index: number): Promise<void> {
  const copied: TaskEvent[] = JSON.parse(body.replaceAll(parkedTaskFile(undefined), parkedTaskFile(index)));
  const events = copied.map((event) =>
    event.type === 'task.created' ? { ...event, sessionId: `session-parked-${index}` } : event,
  );
  const taskId = parkedTaskId(index);
  const result = await journal.append({ taskId, expectedSeq: 0, events, state: 'input-required' });
  if (result.type !== 'appended') throw new Error(`${taskId} could not be added: ${result.type}`);
}
