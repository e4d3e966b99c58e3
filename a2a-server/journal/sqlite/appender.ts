/**
 * Writes a group of appends in one transaction. Each append succeeds or fails separately.
 *
 * - J1: an append must name the task's last `seq`, including the earlier appends of its group. The primary key of
 *   `events` is a second check.
 * - J2: the same transaction writes the events, the index, the message ids and the sums of costs.
 * - J3: an append to an ended task is refused (`judge-append.ts`).
 */
import type { JournalEntry } from '../../task/events.ts';
import { costsOfEvents, utcDay } from '../../task/costs/cost-sum.ts';
import type { TaskRow } from '../journal.ts';
import { FIND_COMMAND, toRecordedCommand } from '../journal-queries.ts';
import { toSqliteText } from './sqlite-dialect.ts';
import { judgeAppend, type AppendOutcome, type AppendStateReader, type TaskHead } from '../judge-append.ts';
import type { PreparedAppend } from '../prepared-append.ts';
import {
  integerColumn,
  nullableIntegerColumn,
  nullableTextColumn,
  parseStateColumn,
  textColumn,
} from '../validate-column-values.ts';
import type { CostTable } from './cost-table.ts';
import type { RunStatement, RunQuery, Sqlite } from '../../../shared/sqlite/driver.ts';
import { EventRowInserter, prepareEventInserts } from './event-rows.ts';
import type { EventInsertStatements } from './event-rows.ts';
import type { WrittenAmountsTable } from './written-table.ts';
import {
  addWrittenAmounts,
  NOTHING_WRITTEN,
  type WrittenAmount,
  writtenAmountOf,
} from '../written-amounts.ts';

interface StoredTaskHead extends TaskHead {
  key: number;
  principal: string;
  sessionId: string;
  /** The model of the last started turn. Null before the first turn. */
  model: string | null;
  /** The size of the task in bytes, as `writtenAmountOf` computes it. */
  size: number;
  /** True if the task's row must get the new `seq`, `updated_at` and `size` at the end of the group. */
  advanced: boolean;
}

interface AppendGroup {
  at: number;
  heads: Map<string, StoredTaskHead>;
  events: EventRowInserter;
  /** The amounts that this group writes, by principal. */
  written: Map<string, WrittenAmount>;
}

export class Appender {
  readonly #database: Sqlite;
  readonly #findCommand: RunQuery;
  readonly #costs: CostTable;
  readonly #written: WrittenAmountsTable;
  readonly #clock: () => number;
  readonly #findHead: RunQuery;
  readonly #findLive: RunQuery;
  readonly #create: RunQuery;
  readonly #advance: RunStatement;
  readonly #change: RunStatement;
  readonly #record: RunStatement;
  readonly #begun: RunStatement;
  readonly #keep: RunStatement;
  readonly #saved: RunStatement;
  readonly #useModel: RunStatement;
  readonly #inserts: EventInsertStatements;

  constructor(
    database: Sqlite,
    { costs, written }: { costs: CostTable; written: WrittenAmountsTable },
    clock: () => number,
  ) {
    this.#database = database;
    this.#costs = costs;
    this.#written = written;
    this.#clock = clock;
    this.#findHead = database.query(
      'SELECT key, seq, state, title, deadline, principal, session_id, model, size FROM tasks WHERE task_id = ?',
    );
    this.#findCommand = database.query(toSqliteText(FIND_COMMAND.text));
    this.#findLive = database.query(
      `SELECT task_id FROM tasks
       WHERE principal = ? AND session_id = ? AND state NOT IN ('completed', 'failed', 'canceled', 'rejected')`,
    );
    this.#create = database.query(
      `INSERT INTO tasks (task_id, session_id, principal, state, seq, created_at, updated_at, title, deadline, size)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    );
    this.#advance = database.command('UPDATE tasks SET seq = ?, updated_at = ?, size = ? WHERE key = ?');
    this.#change = database.command(
      'UPDATE tasks SET seq = ?, updated_at = ?, state = ?, title = ?, deadline = ?, size = ? WHERE key = ?',
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
    this.#inserts = prepareEventInserts(database);
  }

  /**
   * Writes the appends. They are durable when this returns.
   * @throws SqliteError if none of the appends was written
   */
  commit(appends: readonly PreparedAppend[]): AppendOutcome[] {
    return this.#database.transaction(() => {
      const at = this.#clock();
      const group: AppendGroup = {
        at,
        heads: new Map(),
        events: new EventRowInserter(at, this.#inserts),
        written: new Map(),
      };
      const before: AppendStateReader<StoredTaskHead> = {
        command: (principal, messageId) => this.#findCommand(principal, messageId).map(toRecordedCommand)[0],
        head: (taskId) => this.#head(taskId, group),
        liveTask: (principal, sessionId) => this.#liveTask(principal, sessionId),
      };
      const outcomes = appends.map((append) => this.#append(append, group, before));
      for (const head of group.heads.values()) {
        if (head.advanced) this.#advance(head.seq, at, head.size, head.key);
      }
      for (const [principal, written] of group.written) this.#written.add(utcDay(at), principal, written);
      group.events.write();
      return outcomes;
    });
  }

  #append(
    append: PreparedAppend,
    group: AppendGroup,
    before: AppendStateReader<StoredTaskHead>,
  ): AppendOutcome {
    const judgement = judgeAppend(append, before, group.at);
    switch (judgement.type) {
      case 'outcome':
        return judgement.outcome;
      case 'create': {
        const { row, entries } = judgement;
        const head = this.#insertTask(row, writtenAmountOf(append).bytes, group);
        return this.#write(append, entries, { head, group });
      }
      case 'extend': {
        const { head, entries, title, deadline } = judgement;
        head.seq += entries.length;
        head.size += writtenAmountOf(append).bytes;
        this.#updateTask(head, { state: append.state, title, deadline }, group.at);
        return this.#write(append, entries, { head, group });
      }
    }
  }

  #insertTask(row: TaskRow, size: number, group: AppendGroup): StoredTaskHead {
    const { taskId, seq, title, deadline, state } = row;
    const { sessionId, principal, createdAt, updatedAt } = row;
    const about = [taskId, sessionId, principal, state, seq, createdAt, updatedAt, title, deadline, size];
    const key = integerColumn(this.#create(...about)[0]?.[0]);
    const columns = { key, seq, state, title, deadline, principal, sessionId, size };
    const head: StoredTaskHead = { ...columns, model: null, advanced: false };
    group.heads.set(taskId, head);
    return head;
  }

  /** Stores the task's new `seq`, size and state. */
  #updateTask(
    head: StoredTaskHead,
    after: Pick<StoredTaskHead, 'state' | 'title' | 'deadline'>,
    at: number,
  ): void {
    const { state, title, deadline } = after;
    if (state === head.state && title === head.title && deadline === head.deadline) {
      head.advanced = true;
      return;
    }
    // The unique index of live tasks checks the group's next append, so the row needs the new state now.
    this.#change(head.seq, at, state, title, deadline, head.size, head.key);
    Object.assign(head, { state, title, deadline, advanced: false });
  }

  #write(
    append: PreparedAppend,
    entries: JournalEntry[],
    { head, group }: { head: StoredTaskHead; group: AppendGroup },
  ): AppendOutcome {
    const { key, principal: owner } = head;
    group.written.set(
      owner,
      addWrittenAmounts(group.written.get(owner) ?? NOTHING_WRITTEN, writtenAmountOf(append)),
    );
    group.events.add(key, append.expectedSeq + 1, append.bodies);
    for (const event of append.events) if (event.type === 'tool.started') this.#begun(event.toolId, key);
    for (const { hash, bytes } of append.contents ?? []) this.#keep(key, hash, bytes);
    if (append.events.some(({ type }) => type === 'files.saved')) this.#saved(key);
    this.#countCosts(append, head, utcDay(group.at));
    if (append.command !== undefined) {
      const { principal, messageId, bodyHash } = append.command;
      this.#record(principal, messageId, bodyHash, key, append.expectedSeq + entries.length);
    }
    return { type: 'done', result: { type: 'appended', entries } };
  }

  #countCosts({ events }: PreparedAppend, head: StoredTaskHead, day: number): void {
    const { principal, sessionId, key } = head;
    const { costs, openModel } = costsOfEvents(events, head.model);
    for (const { model, cost } of costs) this.#costs.add(principal, { day, sessionId, model, ...cost });
    for (const event of events)
      if (event.type === 'task.working' && event.dayCost !== undefined)
        this.#costs.extendDay(principal, event.dayCost);
    if (openModel === head.model) return;
    head.model = openModel;
    this.#useModel(openModel, key);
  }

  #liveTask(principal: string, sessionId: string): string | undefined {
    const row = this.#findLive(principal, sessionId)[0];
    return row && textColumn(row[0]);
  }

  #head(taskId: string, group: AppendGroup): StoredTaskHead | undefined {
    const known = group.heads.get(taskId);
    if (known !== undefined) return known;
    const row = this.#findHead(taskId)[0];
    if (row === undefined) return undefined;
    const head: StoredTaskHead = {
      key: integerColumn(row[0]),
      seq: integerColumn(row[1]),
      state: parseStateColumn(row[2]),
      title: textColumn(row[3]),
      deadline: nullableIntegerColumn(row[4]),
      principal: textColumn(row[5]),
      sessionId: textColumn(row[6]),
      model: nullableTextColumn(row[7]),
      size: integerColumn(row[8]),
      advanced: false,
    };
    group.heads.set(taskId, head);
    return head;
  }
}
