/**
 * Collects the appends of one commit, and the values that they write. Decides each append against the state in the
 * database and the earlier appends of the batch. Pure.
 */
import { costsOfEvents, utcDay, type CostRow } from '../../task/costs/cost-sum.ts';
import type { TaskEvent } from '../../task/events.ts';
import { TERMINAL_STATES } from '../../task/snapshot.ts';
import type { CommandKey, RecordedCommand, TaskRow } from '../journal.ts';
import { judgeAppend, type AppendOutcome, type AppendStateReader, type TaskHead } from '../judge-append.ts';
import { isStorableText, type PreparedAppend } from '../prepared-append.ts';
import {
  addWrittenAmounts,
  NOTHING_WRITTEN,
  type WrittenAmount,
  writtenAmountOf,
} from '../written-amounts.ts';
import type { PostgresValue } from './driver.ts';

/** The maximum size of a chunk in bytes. A file content is stored in chunks, one per row. */
const CHUNK_BYTES = 1024 * 1024;

/** The state of a task as the database stores it. */
export interface StoredTaskHead extends TaskHead {
  /** For a task that the batch creates, a negative number: the position of the task among the created tasks. */
  key: number;
  principal: string;
  sessionId: string;
  /** The model of the last started turn. Null before the first turn. */
  model: string | null;
  saved: boolean;
  epoch: number;
  /** The size of the task in bytes, as `writtenAmountOf` computes it. */
  size: number;
}

/** The state of a task after the appends that the batch already contains. */
interface BatchHead extends StoredTaskHead {
  /** The `seq` in the database. 0 for a new task. */
  expected: number;
  /** The text of the first message, if this batch appends it. */
  firstMessage: string | null;
  workspace: string | null;
  /** The epoch of the claim that the batch's last append with an epoch names. Null if no append names one. */
  fence: number | null;
}

/** The part of the database's state before the batch that this server knows. */
export interface KnownDatabaseState {
  heads: ReadonlyMap<string, StoredTaskHead>;
  /** The recorded commands, by `commandMapKey`. */
  commands: ReadonlyMap<string, RecordedCommand>;
  /** The live task of a session, by `sessionMapKey`. */
  liveTasks: ReadonlyMap<string, string>;
  /** True while this server has its lease. Without the lease, the appends of its executions are refused. */
  leased: boolean;
}

export class AppendBatch {
  readonly #at: number;
  readonly #heads = new Map<string, BatchHead>();
  readonly #touched = new Set<BatchHead>();
  readonly #commands: Map<string, RecordedCommand>;
  readonly #liveTasks: Map<string, string>;
  readonly #known: KnownDatabaseState;
  readonly #events: { tasks: number[]; seqs: number[]; bodies: string[] } = {
    tasks: [],
    seqs: [],
    bodies: [],
  };
  readonly #recorded: Record<string, unknown>[] = [];
  readonly #tools: Record<string, unknown>[] = [];
  readonly #chunks: Record<string, unknown>[] = [];
  readonly #bytes: Uint8Array[] = [];
  readonly #costs = new Map<string, Record<string, string | number>>();
  readonly #extensions = new Map<string, { principal: string; day: number; usd: number }>();
  readonly #written = new Map<string, WrittenAmount>();
  readonly #before: AppendStateReader<BatchHead>;
  #created = 0;

  constructor(known: KnownDatabaseState, at: number) {
    this.#at = at;
    this.#known = known;
    this.#commands = new Map(known.commands);
    this.#liveTasks = new Map(known.liveTasks);
    // Records the tasks that are live before the batch. Each stays live until the append that ends it.
    for (const [taskId, head] of known.heads) this.#noteLive(taskId, head);
    this.#before = {
      command: (principal, messageId) => this.#commands.get(commandMapKey({ principal, messageId })),
      head: (taskId) => this.#head(taskId),
      liveTask: (principal, sessionId) => this.#liveTasks.get(sessionMapKey({ principal, sessionId })),
    };
  }

  /** The time of the batch's entries. */
  get at(): number {
    return this.#at;
  }

  get writes(): boolean {
    return this.#touched.size > 0;
  }

  /** True if a new task ends in this batch. */
  get createsEndedTask(): boolean {
    return [...this.#touched].some(({ expected, state }) => expected === 0 && TERMINAL_STATES.has(state));
  }

  /** Decides whether the append is accepted. If so, adds the values that the append writes. */
  add(append: PreparedAppend): AppendOutcome {
    if (append.epoch !== undefined && !this.#known.leased)
      return { type: 'done', result: { type: 'fenced' } };
    const judgement = judgeAppend(append, this.#before, this.#at);
    if (judgement.type === 'outcome') return judgement.outcome;
    const head = judgement.type === 'create' ? this.#create(judgement.row) : judgement.head;
    const { entries } = judgement;
    if (judgement.type === 'extend') {
      const { title, deadline } = judgement;
      Object.assign(head, { seq: head.seq + entries.length, state: append.state, title, deadline });
      head.fence = append.epoch ?? head.fence;
    }
    this.#touched.add(head);
    this.#noteLive(append.taskId, head);
    this.#write(append, head);
    return { type: 'done', result: { type: 'appended', entries } };
  }

  /** Returns the parameters of the function `append_batch` that follow the server, the batch number and the time. */
  parameters(): PostgresValue[] {
    const heads = [...this.#touched];
    const parts = {
      moved: heads
        .filter(({ expected }) => expected > 0)
        .map(({ key, expected, firstMessage, fence, ...head }) => ({
          key,
          expected,
          epoch: fence,
          ...columnsOf(head),
          first_message: firstMessage,
        })),
      created: [...this.#heads]
        .filter(([, { expected }]) => expected === 0)
        .map(([taskId, { sessionId, principal, workspace, firstMessage, ...head }]) => ({
          task_id: taskId,
          session_id: sessionId,
          principal,
          workspace,
          ...columnsOf(head),
          first_message: firstMessage,
        })),
      commands: this.#recorded,
      tools: this.#tools,
      chunks: this.#chunks,
      costs: [...this.#costs.values()],
      extensions: [...this.#extensions.values()],
      written: [...this.#written].map(([principal, amounts]) => ({
        day: utcDay(this.#at),
        principal,
        ...amounts,
      })),
    };
    const { tasks, seqs, bodies } = this.#events;
    return [JSON.stringify(parts), tasks, seqs, bodies, this.#bytes];
  }

  /** Returns the ids of the new tasks, in the order of their creation. */
  createdIds(): string[] {
    return [...this.#heads].flatMap(([taskId, { expected }]) => (expected === 0 ? taskId : []));
  }

  /**
   * Returns the heads (`seq` and state) of the tasks after the commit.
   * @param created the keys of the new tasks, in order
   */
  headsAfter(created: readonly number[]): Map<string, StoredTaskHead> {
    const stored = [...this.#heads].map(([taskId, head]) => {
      const { seq, state, title, deadline, principal, sessionId, model, saved, epoch, size } = head;
      const key = head.key < 0 ? (created[-head.key - 1] ?? Number.NaN) : head.key;
      return [
        taskId,
        { key, seq, state, title, deadline, principal, sessionId, model, saved, epoch, size },
      ] as const;
    });
    return new Map(stored);
  }

  #head(taskId: string): BatchHead | undefined {
    const known = this.#heads.get(taskId);
    if (known !== undefined) return known;
    const stored = this.#known.heads.get(taskId);
    if (stored === undefined) return undefined;
    const head = { ...stored, expected: stored.seq, firstMessage: null, workspace: null, fence: null };
    this.#heads.set(taskId, head);
    return head;
  }

  #create({ taskId, sessionId, principal, seq, state, title, deadline }: TaskRow): BatchHead {
    this.#created += 1;
    const head: BatchHead = {
      key: -this.#created,
      seq,
      state,
      title,
      deadline,
      principal,
      sessionId,
      model: null,
      saved: false,
      epoch: 0,
      size: 0,
      expected: 0,
      firstMessage: null,
      workspace: null,
      fence: null,
    };
    this.#heads.set(taskId, head);
    return head;
  }

  #noteLive(taskId: string, head: StoredTaskHead): void {
    const session = sessionMapKey(head);
    if (!TERMINAL_STATES.has(head.state)) this.#liveTasks.set(session, taskId);
    else if (this.#liveTasks.get(session) === taskId) this.#liveTasks.delete(session);
  }

  #write(append: PreparedAppend, head: BatchHead): void {
    const { taskId, expectedSeq, events, bodies, contents = [], command } = append;
    const { key: task, principal: owner } = head;
    const written = writtenAmountOf(append);
    head.size += written.bytes;
    this.#written.set(owner, addWrittenAmounts(this.#written.get(owner) ?? NOTHING_WRITTEN, written));
    bodies.forEach((body, index) => {
      this.#events.tasks.push(task);
      this.#events.seqs.push(expectedSeq + 1 + index);
      this.#events.bodies.push(body);
    });
    events.forEach((event, index) => this.#updateFirstFields(event, expectedSeq + 1 + index, head));
    for (const { hash, bytes } of contents) this.#addContent(task, hash, bytes);
    this.#countCosts(events, head);
    if (command === undefined) return;
    const { principal, messageId, bodyHash } = command;
    const seq = expectedSeq + events.length;
    this.#recorded.push({ principal, message_id: messageId, body_hash: bodyHash, task, seq });
    this.#commands.set(commandMapKey(command), { taskId, sessionId: head.sessionId, bodyHash, seq });
  }

  #updateFirstFields(event: TaskEvent, seq: number, head: BatchHead): void {
    if (event.type === 'task.created') head.workspace = storableOrNull(event.settings.workspace ?? null);
    if (event.type === 'message.received' && seq === 2) head.firstMessage = searchText(event);
    if (event.type === 'tool.started' && isStorableText(event.toolId))
      this.#tools.push({ tool_id: event.toolId, task: head.key });
    if (event.type === 'files.saved') head.saved = true;
    if (event.type === 'task.working' && event.dayCost !== undefined)
      this.#extendDay(head.principal, event.dayCost);
  }

  #addContent(task: number, hash: string, bytes: Uint8Array): void {
    let chunk = 0;
    do {
      this.#bytes.push(bytes.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES));
      this.#chunks.push({ task, hash, chunk, position: this.#bytes.length });
      chunk += 1;
    } while (chunk * CHUNK_BYTES < bytes.length);
  }

  #countCosts(events: readonly TaskEvent[], head: BatchHead): void {
    const { costs, openModel } = costsOfEvents(events, head.model);
    const { principal, sessionId } = head;
    for (const { model, cost } of costs)
      this.#addCost(principal, { day: utcDay(this.#at), sessionId, model: toStorableText(model), ...cost });
    head.model = openModel === null ? null : toStorableText(openModel);
  }

  /** Adds up the costs of each row, because one statement must not change a row twice. */
  #addCost(principal: string, row: CostRow): void {
    const { day, sessionId, model } = row;
    const id = JSON.stringify([principal, day, sessionId, model]);
    const sum = this.#costs.get(id);
    const counts = {
      requests: row.requests,
      input_tokens: row.inputTokens,
      output_tokens: row.outputTokens,
      cached_input_tokens: row.cachedInputTokens,
      cache_write_tokens: row.cacheWriteTokens,
      known_usd: row.knownUsd,
      unpriced: row.unpriced,
    };
    if (sum === undefined)
      this.#costs.set(id, { principal, day, session_id: sessionId ?? '', model, ...counts });
    else for (const [name, count] of Object.entries(counts)) sum[name] = Number(sum[name]) + count;
  }

  #extendDay(principal: string, { day, usd }: { day: number; usd: number }): void {
    const id = JSON.stringify([principal, day]);
    this.#extensions.set(id, { principal, day, usd: Math.max(usd, this.#extensions.get(id)?.usd ?? usd) });
  }
}

export function commandMapKey({ principal, messageId }: Pick<CommandKey, 'principal' | 'messageId'>): string {
  return JSON.stringify([principal, messageId]);
}

export function sessionMapKey({ principal, sessionId }: Pick<TaskRow, 'principal' | 'sessionId'>): string {
  return JSON.stringify([principal, sessionId]);
}

function columnsOf({
  seq,
  state,
  title,
  deadline,
  model,
  saved,
  size,
}: Omit<StoredTaskHead, 'key' | 'principal' | 'sessionId' | 'epoch'>): Record<string, PostgresValue> {
  return { seq, state, title, deadline, model, saved, size };
}

/** The text between the parts of a message in the column `first_message`. No search text contains it. */
export const SEARCH_TEXT_SEPARATOR = '\u{10FFFF}';

function searchText({ message }: Extract<TaskEvent, { type: 'message.received' }>): string {
  return message.parts
    .flatMap((part) =>
      part.type === 'text' ? toStorableText(part.text).replaceAll(SEARCH_TEXT_SEPARATOR, '\u{FFFD}') : [],
    )
    .join(SEARCH_TEXT_SEPARATOR);
}

function storableOrNull(text: string | null): string | null {
  return text !== null && isStorableText(text) ? text : null;
}

/**
 * Returns a text that PostgreSQL can store. NUL and lone surrogates become U+FFFD, because PostgreSQL stores neither.
 */
function toStorableText(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\u{FFFD}');
}
