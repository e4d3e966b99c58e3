/** A task service whose journals the test writes. With it, a test checks the HTTP layer alone. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { maySeeTasksOf, type Requester } from '../../../a2a-server/access/requester.ts';
import type { Receipt } from '../../../shared/receipt/receipt.ts';
import { buildReceiptFromJournal } from '../../../a2a-server/executor/queries/build-receipt-from-journal.ts';
import { onAbort } from '../../../shared/runtime/abort.ts';
import type { AcceptedMessage } from '../../../a2a-server/executor/messages/accepted-message.ts';
import type { ClientMessage } from '../../../a2a-server/executor/messages/client-message.ts';
import type { TaskService } from '../../../a2a-server/executor/task-service.ts';
import type {
  JournalTaskFilter,
  TaskFilterValues,
  TaskPage,
  TaskRow,
} from '../../../a2a-server/journal/journal.ts';
import type { ReaderDisconnect } from '../../../a2a-server/task/cancel.ts';
import { listRequestCosts } from '../../../a2a-server/task/costs/list-request-costs.ts';
import { costReport, sumCosts } from '../../../a2a-server/task/costs/cost-report.ts';
import {
  costsOfEvents,
  utcDay,
  type CostRow,
  type CostSum,
} from '../../../a2a-server/task/costs/cost-sum.ts';
import type { CostReport, TaskCosts } from '../../../shared/protocol/cost-report.ts';
import type { JournalEntry, TaskEvent } from '../../../a2a-server/task/events.ts';
import { foldAll, taskStateAfter } from '../../../a2a-server/task/fold.ts';
import { isTaskSettled, isTerminal } from '../../../a2a-server/task/snapshot.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';

/** 2026-01-01T00:00:00Z. Each entry is one second after the previous one. */
const EPOCH = Date.UTC(2026, 0, 1);

interface Written {
  entries: JournalEntry[];
  wakes: Set<() => void>;
  /** The number of entries that followers have read. It shows a test how far a reader has read. */
  pulled: number;
  followers: number;
  /** A read beyond this seq fails. */
  failAfter: number;
  /** Called when a follower starts or stops. */
  watchers: Set<() => void>;
}

/** The events of a task whose model says "Hello" in two pieces. */
export const TURN: TaskEvent[] = [
  { type: 'task.working' },
  { type: 'turn.started', turn: 1, model: 'scripted' },
  { type: 'text.delta', turn: 1, text: 'Hel' },
  { type: 'text.delta', turn: 1, text: 'lo' },
  { type: 'turn.finished', turn: 1, end: 'stop', usage: { inputTokens: 1, outputTokens: 2 } },
];

export class ScriptedTasks implements TaskService {
  /** The contents of files, by hash. */
  readonly files = new Map<string, { mediaType: string; bytes: Uint8Array }>();
  readonly received: ClientMessage[] = [];
  readonly cancelled: { taskId: string; reason: string; channel: string }[] = [];
  readonly aborted: { toolId: string; principal: string; reason: string }[] = [];
  /** The number of snapshots that were requested. */
  snapshots = 0;
  /** The number of readers that follow a task now. */
  following = 0;
  /** Handles a message. The default starts a task without further events. */
  onSend: (incoming: ClientMessage) => AcceptedMessage | Promise<AcceptedMessage> = (incoming) =>
    this.start(incoming);
  readonly #journals = new Map<string, Written>();
  #started = 0;

  /** Creates a task for a message, with these events after the first two. */
  start(
    incoming: Pick<ClientMessage, 'principal' | 'message' | 'channel'>,
    more: TaskEvent[] = [],
  ): AcceptedMessage {
    const taskId = `task-${++this.#started}`;
    const sessionId = `session-${this.#started}`;
    const { principal, message, channel } = incoming;
    this.#journals.set(taskId, {
      entries: [],
      wakes: new Set(),
      pulled: 0,
      followers: 0,
      failAfter: Infinity,
      watchers: new Set(),
    });
    this.append(taskId, [
      { type: 'task.created', sessionId, principal, settings: {} },
      { type: 'message.received', message, channel },
    ]);
    if (more.length > 0) this.append(taskId, more);
    return { taskId, sessionId, seq: 2 };
  }

  /** Creates a task of the principal for the text `hi`, with these events after the first two. */
  begin(more: TaskEvent[] = [], principal = 'local'): AcceptedMessage {
    const message = { messageId: 'm', parts: [{ type: 'text' as const, text: 'hi' }] };
    return this.start({ principal, channel: 'a2a', message }, more);
  }

  append(taskId: string, events: readonly TaskEvent[]): void {
    const { entries, wakes } = this.#journal(taskId);
    for (const event of events) {
      const seq = entries.length + 1;
      entries.push({ seq, at: EPOCH + seq * 1000, event });
    }
    for (const wake of wakes) wake();
  }

  /** Later followers get an error after `seq`, as if the journal were broken there. */
  failAfter(taskId: string, seq: number): void {
    this.#journal(taskId).failAfter = seq;
  }

  /** Resolves when a reader follows the task. */
  untilFollowed(taskId: string): Promise<void> {
    return this.#until(taskId, ({ followers }) => followers > 0);
  }

  /** Resolves when no reader follows the task. */
  untilLeft(taskId: string): Promise<void> {
    return this.#until(taskId, ({ followers }) => followers === 0);
  }

  #until(taskId: string, reached: (journal: Written) => boolean): Promise<void> {
    const journal = this.#journal(taskId);
    return new Promise((resolve) => {
      const look = (): void => {
        if (!reached(journal)) return;
        journal.watchers.delete(look);
        resolve();
      };
      journal.watchers.add(look);
      look();
    });
  }

  #count(journal: Written, change: 1 | -1): void {
    this.following += change;
    journal.followers += change;
    for (const look of journal.watchers) look();
  }

  pulled(taskId: string): number {
    return this.#journal(taskId).pulled;
  }

  async send(incoming: ClientMessage): Promise<AcceptedMessage> {
    this.received.push(incoming);
    return await this.onSend(incoming);
  }

  cancel(taskId: string, by: Requester & { channel: string }, reason: string): Promise<Snapshot> {
    return this.snapshot(taskId, by).then((snapshot) => {
      if (isTerminal(snapshot)) throw new ProductError('TASK_ENDED', `Task ${taskId} has ended.`);
      this.cancelled.push({ taskId, reason, channel: by.channel });
      const { principal, channel } = by;
      this.append(taskId, [{ type: 'task.canceled', reason, by: { principal, channel } }]);
      return this.snapshot(taskId, by);
    });
  }

  async cancelWork(
    taskId: string,
    by: Requester & { channel: string },
    { messageSeq, reason }: ReaderDisconnect,
  ): Promise<void> {
    const snapshot = await this.snapshot(taskId, by);
    if (!isTaskSettled(snapshot) && snapshot.messageSeq <= messageSeq) await this.cancel(taskId, by, reason);
  }

  toolExecutions() {
    return Promise.resolve([]);
  }

  abortTool(toolId: string, { principal }: Requester, reason: string) {
    this.aborted.push({ toolId, principal, reason });
    return Promise.resolve({ success: toolId === 'tool-1', message: `asked for ${toolId}` });
  }

  async row(taskId: string, by: Requester): Promise<TaskRow> {
    return rowOf(await this.#fold(taskId, by));
  }

  async file(taskId: string, by: Requester, hash: string) {
    await this.#fold(taskId, by);
    const found = this.files.get(hash);
    if (found === undefined) throw new ProductError('UNKNOWN_ADDRESS', `Task ${taskId} has no such file.`);
    return found;
  }

  snapshot(taskId: string, by: Requester, atSeq?: number): Promise<Snapshot> {
    this.snapshots += 1;
    return this.#fold(taskId, by, atSeq);
  }

  async listedSnapshot({ taskId }: { taskId: string }): Promise<Snapshot | undefined> {
    this.snapshots += 1;
    return foldAll(taskId, this.#journal(taskId).entries);
  }

  #fold(taskId: string, by: Requester, atSeq?: number): Promise<Snapshot> {
    return Promise.resolve().then(() => {
      const { entries } = this.#journal(taskId);
      const snapshot = foldAll(taskId, entries.slice(0, atSeq));
      if (snapshot === undefined || !maySeeTasksOf(by, snapshot.principal)) throw unknownTask(taskId);
      return snapshot;
    });
  }

  costs(principal: string, days: number): Promise<CostReport> {
    const rows = this.#costRows(principal);
    const toDay = Math.max(utcDay(EPOCH), ...rows.map(({ day }) => day));
    const fromDay = toDay - days + 1;
    return Promise.resolve(costReport(rows, { fromDay, toDay }));
  }

  recipient(): Promise<never> {
    return Promise.reject(new Error('no scripted task sends push notifications'));
  }

  presenceStatement(): Promise<never> {
    return Promise.reject(new Error('no scripted task demands presence'));
  }

  async receipt(taskId: string, by: Requester, events?: number): Promise<Receipt> {
    const { seq } = await this.#fold(taskId, by);
    const { entries } = this.#journal(taskId);
    const read = (_: string, after: number, limit: number): Promise<JournalEntry[]> =>
      Promise.resolve(entries.slice(after, after + limit));
    return buildReceiptFromJournal({ read }, { taskId, seq }, events);
  }

  async taskCosts(taskId: string, by: Requester): Promise<TaskCosts> {
    await this.#fold(taskId, by);
    return { taskId, requests: listRequestCosts(this.#journal(taskId).entries) };
  }

  async entries(
    taskId: string,
    by: Requester,
    { after, limit }: { after: number; limit: number },
  ): Promise<readonly JournalEntry[]> {
    await this.#fold(taskId, by);
    return this.#journal(taskId).entries.slice(after, after + limit);
  }

  inputSchema(): Promise<null> {
    return Promise.resolve(null);
  }

  sessionCost(principal: string, session: string): Promise<CostSum> {
    return Promise.resolve(
      sumCosts(this.#costRows(principal).filter(({ sessionId }) => sessionId === session)),
    );
  }

  #costRows(principal: string): CostRow[] {
    return [...this.#journals].flatMap(([taskId, { entries }]) => {
      const snapshot = foldAll(taskId, entries);
      if (snapshot?.principal !== principal) return [];
      const { sessionId, updatedAt } = snapshot;
      const { costs } = costsOfEvents(
        entries.map(({ event }) => event),
        null,
      );
      return costs.map(({ model, cost }) => ({ day: utcDay(updatedAt), sessionId, model, ...cost }));
    });
  }

  filterValues(): Promise<TaskFilterValues> {
    return Promise.resolve({ workspaces: [], models: [] });
  }

  list(filter: JournalTaskFilter, page: { size: number; token?: string }): Promise<TaskPage> {
    const rows = [...this.#journals].flatMap(([taskId, { entries }]): TaskRow[] => {
      const snapshot = foldAll(taskId, entries);
      if (snapshot?.principal !== filter.principal) return [];
      const { sessionId, updatedAt, status } = snapshot;
      if (filter.sessionId !== undefined && filter.sessionId !== sessionId) return [];
      if (filter.states && !filter.states.includes(status.state)) return [];
      if (filter.updatedSince !== undefined && updatedAt < filter.updatedSince) return [];
      return [rowOf(snapshot)];
    });
    const from = Number(page.token ?? 0);
    const found = rows.slice(from, from + page.size);
    const tokens = found.map((_, index) => String(from + index + 1));
    const next = tokens.at(-1);
    const isLast = from + page.size >= rows.length;
    return Promise.resolve({
      rows: found,
      tokens,
      total: rows.length,
      ...(!isLast && next !== undefined && { next }),
    });
  }

  async *follow(
    taskId: string,
    after: number,
    { until, signal }: Parameters<TaskService['follow']>[2],
  ): AsyncGenerator<readonly JournalEntry[], void, undefined> {
    const journal = this.#journal(taskId);
    let wake: (() => void) | undefined;
    const woken = (): void => wake?.();
    const deaf = onAbort(signal, woken);
    journal.wakes.add(woken);
    this.#count(journal, 1);
    try {
      let position = after;
      let state = foldAll(taskId, journal.entries.slice(0, position))?.status.state;
      while (!signal.aborted) {
        const batch = journal.entries.slice(position, position + 256);
        if (batch.length > 0) {
          if (position >= journal.failAfter) throw new ProductError('STORAGE', 'The journal cannot be read.');
          journal.pulled += batch.length;
          yield batch;
          position = batch.at(-1)?.seq ?? position;
          state = taskStateAfter(batch.map(({ event }) => event)) ?? state;
          continue;
        }
        const ended = ['completed', 'failed', 'canceled', 'rejected'].includes(state ?? '');
        if (ended || (until === 'settled' && state === 'input-required')) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      deaf();
      journal.wakes.delete(woken);
      this.#count(journal, -1);
    }
  }

  #journal(taskId: string): Written {
    const journal = this.#journals.get(taskId);
    if (journal === undefined) throw unknownTask(taskId);
    return journal;
  }
}

function rowOf(snapshot: Snapshot): TaskRow {
  const { taskId, sessionId, principal, seq, createdAt, updatedAt, status } = snapshot;
  const row = { taskId, sessionId, principal, state: status.state, seq, createdAt, updatedAt };
  return { ...row, title: '', deadline: null };
}

function unknownTask(taskId: string): ProductError {
  return new ProductError('UNKNOWN_TASK', `There is no task ${taskId}.`);
}
