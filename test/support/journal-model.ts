/** The simplest model of a journal: lists in memory. Property tests compare a real journal with it. */
import type {
  AppendRequest,
  AppendResult,
  RecordedCommand,
  TaskRow,
} from '../../a2a-server/journal/journal.ts';
import { buildTaskRow } from '../../a2a-server/journal/build-task-row.ts';
import type { JournalEntry } from '../../a2a-server/task/events.ts';
import { TERMINAL_STATES } from '../../a2a-server/task/snapshot.ts';

/** The result of an append. `ended`: the journal refuses with TASK_ENDED. `unknown`: it refuses with UNKNOWN_TASK. */
export type ModelResult = AppendResult | { type: 'ended' } | { type: 'unknown' };

export class JournalModel {
  /** Tasks in the order of their creation. */
  readonly tasks = new Map<string, JournalEntry[]>();
  readonly commands = new Map<string, RecordedCommand>();

  append({ taskId, expectedSeq, events, command }: AppendRequest, at: number): ModelResult {
    const recorded = command && this.commands.get(keyOf(command.principal, command.messageId));
    if (recorded) return { type: 'repeated', command: recorded };
    const row = this.row(taskId);
    if (expectedSeq === 0) {
      const [first] = events;
      if (first?.type !== 'task.created') throw new Error('the test begins a task without task.created');
      if (row) return { type: 'conflict' };
      const live = this.session(first.principal, first.sessionId).find(
        ({ state }) => !TERMINAL_STATES.has(state),
      );
      if (live) return { type: 'session-busy', taskId: live.taskId };
    } else {
      if (!row) return { type: 'unknown' };
      if (row.seq !== expectedSeq) return { type: 'conflict' };
      if (TERMINAL_STATES.has(row.state)) return { type: 'ended' };
    }
    const entries = events.map((event, index) => ({ seq: expectedSeq + 1 + index, at, event }));
    this.tasks.set(taskId, [...(this.tasks.get(taskId) ?? []), ...entries]);
    if (command) {
      const { sessionId } = this.#row(taskId);
      const { principal, messageId, bodyHash } = command;
      this.commands.set(keyOf(principal, messageId), {
        taskId,
        sessionId,
        bodyHash,
        seq: entries.at(-1)?.seq ?? 0,
      });
    }
    return { type: 'appended', entries };
  }

  /** @returns the number of deleted sessions */
  forget(before: number): number {
    const sessions = new Map(this.rows().map((row) => [keyOf(row.principal, row.sessionId), row]));
    let forgotten = 0;
    for (const { principal, sessionId } of sessions.values()) {
      const rows = this.session(principal, sessionId);
      if (rows.some(({ state, updatedAt }) => !TERMINAL_STATES.has(state) || updatedAt >= before)) continue;
      forgotten += 1;
      for (const { taskId } of rows) {
        this.tasks.delete(taskId);
        for (const [key, command] of this.commands) if (command.taskId === taskId) this.commands.delete(key);
      }
    }
    return forgotten;
  }

  row(taskId: string): TaskRow | undefined {
    return buildTaskRow(taskId, this.tasks.get(taskId) ?? []);
  }

  rows(): TaskRow[] {
    return [...this.tasks.keys()].map((taskId) => this.#row(taskId));
  }

  session(principal: string, sessionId: string): TaskRow[] {
    return this.rows().filter((row) => row.principal === principal && row.sessionId === sessionId);
  }

  command(principal: string, messageId: string): RecordedCommand | undefined {
    return this.commands.get(keyOf(principal, messageId));
  }

  #row(taskId: string): TaskRow {
    const row = this.row(taskId);
    if (row === undefined) throw new Error(`the model holds no task ${taskId}`);
    return row;
  }
}

function keyOf(principal: string, messageId: string): string {
  return JSON.stringify([principal, messageId]);
}
