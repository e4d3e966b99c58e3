/** The guarantees that hold after every flow, whatever faults it met. */
import { z } from 'zod';
import type { Journal } from '../../a2a-server/journal/journal.ts';
import { openSqliteJournal } from '../../a2a-server/journal/sqlite/sqlite-journal.ts';
import type { JournalEntry } from '../../a2a-server/task/events.ts';
import { readTask, type StreamEvent, type TaskView } from '../support/wire-event.ts';
import type { A2aClient } from './a2a-client.ts';
import { must, type Findings } from './findings.ts';
import type { Flow } from './flow.ts';
import { callRecords, checkEffect, mustBeGapFree, mustContinue } from './journal-checks.ts';
import { wholeJournal } from './task-reader.ts';
import { countEffects, editedMarker } from './workload.ts';

const listed = z.object({ tasks: z.array(z.unknown().transform(readTask)) });

/** @returns the tasks whose history contains the flow's first message; a correct server has one */
export function findTasks(client: A2aClient, { workload }: Flow): Promise<TaskView[]> {
  return tasksThatSay(client, `Flow ${workload.name} begins`);
}

/** @returns the tasks with this text in their history, among the last 100 tasks */
export async function tasksThatSay(client: A2aClient, words: string): Promise<TaskView[]> {
  return (await lastTasks(client)).filter((task) => says(task, words));
}

/** @returns the last 100 tasks */
export async function lastTasks(client: A2aClient): Promise<TaskView[]> {
  return listed.parse(await client.call('ListTasks', { pageSize: 100, historyLength: 100 })).tasks;
}

export function says({ history }: TaskView, words: string): boolean {
  return history.some((line) => line.includes(words));
}

/** Checks that the flow created exactly one task. @returns the task's id. @throws Violation */
async function taskOf(client: A2aClient, flow: Flow): Promise<string> {
  const { workload, taskId } = flow;
  const mine = await findTasks(client, flow);
  must(mine.length === 1, `${workload.name} was delegated once, and has become ${mine.length} tasks`);
  const [task] = mine;
  must(taskId === undefined || task?.taskId === taskId, `${workload.name} was answered with another task`);
  return task?.taskId ?? '';
}

interface Checked {
  client: A2aClient;
  workspace: string;
  seen: readonly StreamEvent[];
  findings: Findings;
}

/** Checks the task, its journal and its effects. @throws Violation */
export async function checkFlow(
  part: string,
  flow: Flow,
  { client, workspace, seen, findings }: Checked,
): Promise<void> {
  const taskId = await taskOf(client, flow);
  const task = readTask(await client.call('GetTask', { id: taskId }));
  must(task.state === 'COMPLETED', `the task is ${task.state}: ${task.statusText}`);
  const journal = await wholeJournal(client, taskId);
  const messages = task.history.filter((line) => line.startsWith('user:')).length;
  mustBeGapFree(journal, task.seq, messages);
  mustContinue(seen, journal);
  const records = callRecords(journal);
  checkAccepted(flow, records);
  const counted = await countEffects(workspace);
  for (const marker of flow.workload.markers) {
    const effects = { asked: counted(marker), edited: counted(editedMarker(marker)) };
    const end = checkEffect(marker, records, { effects, asks: flow.asks });
    findings.count(`${part}: effects, ${end}`);
  }
  findings.count(`${part}: flows`);
  findings.count(`${part}: events`, journal.length);
  findings.count(`${part}: decisions accepted`, flow.accepted.length);
}

/** E3: each accepted decision is in the journal, and a decision that was sent again with the same id is there once. */
function checkAccepted(flow: Flow, records: ReturnType<typeof callRecords>): void {
  for (const { callId, decisions } of records) {
    const heard = flow.accepted.filter((each) => each.callId === callId).map(({ decision }) => decision);
    const kept = flow.exact ? heard.length === decisions.length : heard.length <= decisions.length;
    must(
      kept,
      `${flow.workload.name}, ${callId}: accepted decisions: ${heard.join(', ') || 'none'}; in the journal: ${decisions.join(', ') || 'none'}`,
    );
  }
}

/** Task ids with the entries of each task. */
export type JournalOnDisk = ReadonlyMap<string, readonly JournalEntry[]>;

/** Reads the file and checks J1. No other process may have the file open. @throws Violation */
export async function readJournalFile(path: string): Promise<JournalOnDisk> {
  const journal = await openSqliteJournal({ path, clock: () => 0 });
  try {
    return await readJournal(journal, 'local');
  } finally {
    await journal.close();
  }
}

/** Reads the last 100 tasks of a principal and checks J1. @throws Violation */
export async function readJournal(
  journal: Pick<Journal, 'list' | 'read'>,
  principal: string,
): Promise<JournalOnDisk> {
  const tasks = new Map<string, readonly JournalEntry[]>();
  const { rows } = await journal.list({ principal }, { size: 100 });
  for (const row of rows) {
    const all = await journal.read(row.taskId, 0, 1_000_000);
    all.forEach(({ seq }, index) =>
      must(seq === index + 1, `entry ${index + 1} of ${row.taskId} is numbered ${seq}`),
    );
    must(all.length === row.seq, `${row.taskId} has ${all.length} entries, and its row says ${row.seq}`);
    tasks.set(row.taskId, all);
  }
  return tasks;
}
