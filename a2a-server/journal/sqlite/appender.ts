/**
 * Writes a group of appends in one transaction. It accepts or refuses each append separately.
 *
 * - J1: an append succeeds if it names the task's last `seq`. Each append sees the earlier appends of its group. The
 *   primary key of `events` is a second check.
 * - J2: the same transaction writes the events, the index, the message ids and the sums of costs.
 * - J3: it refuses each append to an ended task.
 */
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { JournalEntry } from '../../task/events.ts';
import { requestCosts, utcDay } from '../../task/cost-sum.ts';
import { TERMINAL_STATES, type StateName } from '../../task/snapshot.ts';
import type { CommitOutcome } from '../../../shared/sqlite/group-commit.ts';
import { indexRow } from '../index-row.ts';
import type { AppendResult } from '../journal.ts';
import type { PreparedAppend } from '../prepared-append.ts';
import {
  integerColumn,
  nullableIntegerColumn,
  nullableTextColumn,
  stateColumn,
  textColumn,
} from './columns.ts';
import type { CostTable } from './cost-table.ts';
import type { Command, Query, Sqlite } from '../../../shared/sqlite/driver.ts';
import { EventRows, prepareInserts } from './event-rows.ts';
import type { EventInserts } from './event-rows.ts';
import type { TaskIndex } from './task-index.ts';
import { stateWord } from '../../../shared/text/state-word.ts';

/** The state of a task after the appends checked so far. */
interface Head {
  key: number;
  seq: number;
  state: StateName;
  title: string;
  deadline: number | null;
  principal: string;
  sessionId: string;
  /** The model of the last turn that started; null before the first turn. */
  model: string | null;
  /** True if `seq` and `updated_at` in the task's row are outdated. No check of the group reads these two columns. */
  advanced: boolean;
}

/** An open transaction. */
interface Group {
  at: number;
  heads: Map<string, Head>;
  events: EventRows;
}

export class Appender {
  readonly #database: Sqlite;
  readonly #index: TaskIndex;
  readonly #costs: CostTable;
  readonly #clock: () => number;
  readonly #findHead: Query;
  readonly #findLive: Query;
  readonly #create: Query;
  readonly #advance: Command;
  readonly #change: Command;
  readonly #record: Command;
  readonly #begun: Command;
  readonly #keep: Command;
  readonly #saved: Command;
  readonly #useModel: Command;
  readonly #inserts: EventInserts;

  constructor(
    database: Sqlite,
    { index, costs }: { index: TaskIndex; costs: CostTable },
    clock: () => number,
  ) {
    this.#database = database;
    this.#index = index;
    this.#costs = costs;
    this.#clock = clock;
    this.#findHead = database.query(
      'SELECT key, seq, state, title, deadline, principal, session_id, model FROM tasks WHERE task_id = ?',
    );
    this.#findLive = database.query(
      `SELECT task_id FROM tasks
       WHERE principal = ? AND session_id = ? AND state NOT IN ('completed', 'failed', 'canceled', 'rejected')`,
    );
    this.#create = database.query(
      `INSERT INTO tasks (task_id, session_id, principal, state, seq, created_at, updated_at, title, deadline)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    );
    this.#advance = database.command('UPDATE tasks SET seq = ?, updated_at = ? WHERE key = ?');
    this.#change = database.command(
      'UPDATE tasks SET seq = ?, updated_at = ?, state = ?, title = ?, deadline = ? WHERE key = ?',
    );
    this.#record = database.command(
      'INSERT INTO commands (principal, message_id, body_hash, task, seq) VALUES (?, ?, ?, ?, ?)',
    );
    this.#begun = database.command(
      'INSERT INTO tool_executions (tool_id, task) VALUES (?, ?) ON CONFLICT DO NOTHING',
    );
    this.#keep = database.command(
      'INSERT INTO contents (task, hash, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.#saved = database.command('UPDATE tasks SET saved = 1 WHERE key = ? AND saved = 0');
    this.#useModel = database.command('UPDATE tasks SET model = ? WHERE key = ?');
    this.#inserts = prepareInserts(database);
  }

  /** Makes the appends durable before it returns. @throws SqliteFailure; then it has written no append of the group */
  commit(appends: readonly PreparedAppend[]): CommitOutcome<AppendResult>[] {
    return this.#database.transaction(() => {
      const at = this.#clock();
      const group: Group = { at, heads: new Map(), events: new EventRows(at, this.#inserts) };
      const outcomes = appends.map((append) => this.#judge(append, group));
      for (const head of group.heads.values()) {
        if (head.advanced) this.#advance(head.seq, at, head.key);
      }
      group.events.write();
      return outcomes;
    });
  }

  #judge(append: PreparedAppend, group: Group): CommitOutcome<AppendResult> {
    const recorded =
      append.command && this.#index.command(append.command.principal, append.command.messageId);
    if (recorded !== undefined) return done({ type: 'repeated', command: recorded });
    const head = this.#head(append.taskId, group);
    if (append.expectedSeq === 0) return head === undefined ? this.#begin(append, group) : CONFLICT;
    if (head === undefined)
      return refused(
        'UNKNOWN_TASK',
        `There is no task ${append.taskId}. List the tasks to see those that exist.`,
      );
    if (head.seq !== append.expectedSeq) return CONFLICT;
    if (TERMINAL_STATES.has(head.state)) {
      // Do not report a conflict here. After a conflict, the writer would find no new entries and would try again
      // forever.
      return refused(
        'TASK_ENDED',
        `The task ${append.taskId} has ended (${stateWord(head.state)}). Nothing was appended.`,
      );
    }
    if (append.moves === undefined && append.state !== head.state) {
      const error = new RangeError(`the events leave the task ${head.state}, not ${append.state}`);
      return { type: 'refused', error };
    }
    return this.#extend(append, head, group);
  }

  #begin(append: PreparedAppend, group: Group): CommitOutcome<AppendResult> {
    const entries = entriesOf(append, group.at);
    const row = indexRow(append.taskId, entries);
    if (row === undefined) throw new RangeError('a task begins with task.created');
    const live = this.#findLive(row.principal, row.sessionId)[0];
    if (live !== undefined) return done({ type: 'session-busy', taskId: textColumn(live[0]) });
    const { taskId, seq, title, deadline } = row;
    const { sessionId, principal, createdAt, updatedAt } = row;
    const about = [taskId, sessionId, principal, row.state, seq, createdAt, updatedAt, title, deadline];
    const key = integerColumn(this.#create(...about)[0]?.[0]);
    const head = { key, seq, state: row.state, title, deadline, principal, sessionId };
    return this.#write(append, entries, remember(group, taskId, { ...head, model: null, advanced: false }));
  }

  #extend(append: PreparedAppend, head: Head, group: Group): CommitOutcome<AppendResult> {
    const entries = entriesOf(append, group.at);
    head.seq += entries.length;
    const title = head.title === '' ? append.title : head.title;
    const deadline = append.deadline === undefined ? head.deadline : append.deadline;
    if (append.state === head.state && title === head.title && deadline === head.deadline) {
      head.advanced = true;
    } else {
      // Write the state now, because the unique index of live tasks checks the next append of the group.
      this.#change(head.seq, group.at, append.state, title, deadline, head.key);
      Object.assign(head, { state: append.state, title, deadline, advanced: false });
    }
    return this.#write(append, entries, { head, group });
  }

  #write(
    append: PreparedAppend,
    entries: JournalEntry[],
    { head, group }: { head: Head; group: Group },
  ): CommitOutcome<AppendResult> {
    const { key } = head;
    group.events.add(key, append.expectedSeq + 1, append.bodies);
    for (const event of append.events) if (event.type === 'tool.started') this.#begun(event.toolId, key);
    for (const { hash, bytes } of append.contents ?? []) this.#keep(key, hash, bytes);
    if (append.events.some(({ type }) => type === 'files.saved')) this.#saved(key);
    this.#count(append, head, utcDay(group.at));
    if (append.command !== undefined) {
      const { principal, messageId, bodyHash } = append.command;
      this.#record(principal, messageId, bodyHash, key, append.expectedSeq + entries.length);
    }
    return done({ type: 'appended', entries });
  }

  /** Adds the cost of answered requests to the sums. */
  #count({ events }: PreparedAppend, head: Head, day: number): void {
    const { principal, sessionId, key } = head;
    const { costs, openModel } = requestCosts(events, head.model);
    for (const { model, cost } of costs) this.#costs.add(principal, { day, sessionId, model, ...cost });
    for (const event of events)
      if (event.type === 'task.working' && event.dayCost !== undefined)
        this.#costs.extendDay(principal, event.dayCost);
    if (openModel === head.model) return;
    head.model = openModel;
    this.#useModel(openModel, key);
  }

  #head(taskId: string, group: Group): Head | undefined {
    const known = group.heads.get(taskId);
    if (known !== undefined) return known;
    const row = this.#findHead(taskId)[0];
    if (row === undefined) return undefined;
    const head: Head = {
      key: integerColumn(row[0]),
      seq: integerColumn(row[1]),
      state: stateColumn(row[2]),
      title: textColumn(row[3]),
      deadline: nullableIntegerColumn(row[4]),
      principal: textColumn(row[5]),
      sessionId: textColumn(row[6]),
      model: nullableTextColumn(row[7]),
      advanced: false,
    };
    group.heads.set(taskId, head);
    return head;
  }
}

function remember(group: Group, taskId: string, head: Head): { head: Head; group: Group } {
  group.heads.set(taskId, head);
  return { head, group };
}

const CONFLICT = done({ type: 'conflict' });

function done(result: AppendResult): CommitOutcome<AppendResult> {
  return { type: 'done', result };
}

function refused(reason: 'UNKNOWN_TASK' | 'TASK_ENDED', message: string): CommitOutcome<AppendResult> {
  return { type: 'refused', error: new ProductError(reason, message) };
}

function entriesOf({ expectedSeq, events }: PreparedAppend, at: number): JournalEntry[] {
  return events.map((event, index) => ({ seq: expectedSeq + 1 + index, at, event }));
}
