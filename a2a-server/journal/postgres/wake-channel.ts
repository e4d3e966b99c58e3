/**
 * Wakes readers after appends by other servers, and sends the wake-ups of this server's appends.
 *
 * - One connection sends and receives all wake-ups. No append sends its own `NOTIFY`, because PostgreSQL commits
 *   transactions with `NOTIFY` one after another.
 * - A wake-up may be lost. Every `QUERY_INTERVAL_MS`, one query reads the last `seq` of each watched task. So a lost
 *   wake-up makes a reader late by at most this time. S1: a reader never misses an entry.
 * - A new connection has missed earlier wake-ups, so the query for the last `seq` runs at once. The new connection also
 *   sends the wake-ups that the old connection could not send.
 */
import type { Clock } from '../../../shared/runtime/clock.ts';
import { integerColumn, textColumn } from '../validate-column-values.ts';
import type { CommittedEntries, OnChangedElsewhere } from '../committed-entries.ts';
import {
  type PostgresConnection,
  type DatabaseAddress,
  openPostgresConnection,
  type QueryRunner,
} from './driver.ts';
import { type HeadSeqs, parseWakePayload, wakePayloads } from './wake-message.ts';
import { JournalWakeSender } from './wake-sender.ts';

/** The time between two queries for the last `seq` of the watched tasks, in milliseconds. */
const QUERY_INTERVAL_MS = 1_000;
/** The pause between attempts to connect, in milliseconds. */
const RECONNECT_MS = 1_000;

/**
 * The channel of the wake-ups. Other schemas of the database may use the same channel. Task ids are unique, so the
 * wake-ups of other schemas have no effect.
 */
const CHANNEL = 'a2a_journal';

/**
 * The statement that starts to listen. A notification need not be durable, because the entries that it names are
 * already durable.
 */
const LISTEN = `SET synchronous_commit = off; LISTEN ${CHANNEL}`;
const SEND = {
  name: 'send_wake_ups',
  text: `SELECT pg_notify('${CHANNEL}', payload) FROM unnest($1::text[]) AS payload`,
};
/**
 * For each task, reads its last `seq`, and the time of the entry with the known `seq`. The time is null if this entry
 * has no row of its own: it is missing, or it is in a packed row (`packed-row.ts`).
 */
const HEADS = {
  name: 'watched_heads',
  text: `SELECT task_id, tasks.seq,
                (SELECT at FROM events WHERE task = tasks.key AND events.seq = known.seq AND first IS NULL)
         FROM unnest($1::text[], $2::int[]) AS known (id, seq) JOIN tasks ON task_id = known.id`,
};

interface WakeUpOptions {
  server: string;
  clock: Pick<Clock, 'after'>;
  /**
   * Runs the queries for the last `seq` of the watched tasks. These queries must not use the connection of the
   * wake-ups, because that connection may be lost.
   */
  reader: QueryRunner;
  committed: Pick<CommittedEntries, 'noteNotifiedHead' | 'noteStoredHead' | 'watched'>;
  onChangedElsewhere?: OnChangedElsewhere;
  /** Called if the database has lost entries of a watched task, e.g. because an asynchronous standby is now the primary. */
  onLostEntries?: (taskId: string) => void;
}

export class JournalWakeChannel {
  readonly #address: DatabaseAddress;
  readonly #options: WakeUpOptions;
  readonly #sender: JournalWakeSender;
  #connection: PostgresConnection | undefined;
  readonly #cancelTimers = new Set<() => void>();
  #closed = false;

  private constructor(address: DatabaseAddress, options: WakeUpOptions) {
    this.#address = address;
    this.#options = options;
    this.#sender = new JournalWakeSender({ clock: options.clock, send: (heads) => this.#send(heads) });
  }

  /**
   * Connects. Later losses of the connection are repaired in the background.
   * @throws PostgresError
   */
  static async open(address: DatabaseAddress, options: WakeUpOptions): Promise<JournalWakeChannel> {
    const wakeUps = new JournalWakeChannel(address, options);
    await wakeUps.#connect();
    wakeUps.#lookLater();
    return wakeUps;
  }

  /** Wakes the readers of these tasks on other servers. J1: their entries must be durable. */
  send(heads: HeadSeqs): void {
    this.#sender.add(heads);
  }

  close(): void {
    this.#closed = true;
    this.#sender.close();
    for (const cancel of this.#cancelTimers) cancel();
    this.#connection?.close();
  }

  async #connect(): Promise<void> {
    const connection = await openPostgresConnection(this.#address, (opened) => {
      opened.onNotification((payload) => this.#receive(payload));
      return opened.query({ text: LISTEN });
    });
    if (this.#closed) {
      connection.close();
      return;
    }
    this.#connection = connection;
    connection.onLost(() => void this.#reconnect());
  }

  async #reconnect(): Promise<void> {
    this.#connection = undefined;
    if (this.#closed) return;
    try {
      await this.#connect();
    } catch {
      this.#runAfter(RECONNECT_MS, () => void this.#reconnect());
      return;
    }
    this.#sender.sendAgain();
    this.#options.onChangedElsewhere?.('unknown');
    await this.#queryHeads();
  }

  async #send(heads: HeadSeqs): Promise<void> {
    if (this.#connection === undefined) throw new Error('the connection of the wake-ups is lost');
    await this.#connection.query(SEND, [wakePayloads({ sender: this.#options.server, heads })]);
  }

  #receive(payload: string): void {
    const message = parseWakePayload(payload);
    if (message === undefined || message.sender === this.#options.server) return;
    for (const [taskId, seq] of message.heads) this.#options.committed.noteNotifiedHead(taskId, seq);
    this.#options.onChangedElsewhere?.([...message.heads.keys()]);
  }

  #lookLater(): void {
    this.#runAfter(QUERY_INTERVAL_MS, () => void this.#queryHeads().then(() => this.#lookLater()));
  }

  /**
   * Reads the last `seq` of each watched task, and wakes the task's readers if this `seq` is new. If the database
   * cannot be reached, the next query finds the new entries.
   */
  async #queryHeads(): Promise<void> {
    const { committed, reader, onLostEntries } = this.#options;
    const watched = committed.watched();
    if (watched.size === 0 || this.#closed) return;
    const seqs = [...watched.values()].map((known) => known?.seq ?? 0);
    const rows = await reader.query(HEADS, [[...watched.keys()], seqs]).catch(() => undefined);
    if (rows === undefined || this.#closed) return;
    const heads = new Map(
      rows.map(([taskId, seq, at]) => [textColumn(taskId), { seq: integerColumn(seq), at }]),
    );
    for (const [taskId, known] of watched) {
      const head = heads.get(taskId);
      // A durable entry disappears only with its task. So the database has lost entries if the last `seq` is now
      // smaller. It has also lost entries if the entry with the known `seq` now has another time: another server has
      // appended this entry after the loss.
      if (head && known && (head.seq < known.seq || isOtherTime(known.at, head.at))) onLostEntries?.(taskId);
      committed.noteStoredHead(taskId, head?.seq ?? 0);
    }
  }

  #runAfter(ms: number, act: () => void): void {
    if (this.#closed) return;
    const cancel = this.#options.clock.after(ms, () => {
      this.#cancelTimers.delete(cancel);
      act();
    });
    this.#cancelTimers.add(cancel);
  }
}

/** @param stored the value of the column `at` in `HEADS`, or null if the time is unknown */
function isOtherTime(known: number | undefined, stored: unknown): boolean {
  return known !== undefined && stored !== null && integerColumn(stored) !== known;
}
