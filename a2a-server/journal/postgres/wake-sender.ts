/**
 * Collects the tasks that this server has appended to, and sends them to other servers. Each task is sent once, with
 * its last `seq`. The time between two sends is at least `WAKE_PAUSE_MS`, so many commits cost few notifications.
 */
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { HeadSeqs } from './wake-message.ts';

/** The minimum time between two sends, in milliseconds. */
export const WAKE_PAUSE_MS = 10;

interface WakeSenderOptions {
  clock: Pick<Clock, 'after'>;
  /** Sends wake-ups. After a failure, they are sent again with the next wake-ups, or by `sendAgain`. */
  send: (heads: HeadSeqs) => Promise<void>;
}

export class JournalWakeSender {
  readonly #options: WakeSenderOptions;
  #heads = new Map<string, number>();
  #state: 'idle' | 'sending' | 'closed' = 'idle';

  constructor(options: WakeSenderOptions) {
    this.#options = options;
  }

  /**
   * Adds tasks with their last durable `seq`. Sends them immediately if no send is running and `WAKE_PAUSE_MS` have
   * passed since the last send began. Otherwise sends them together with the next send.
   */
  add(heads: HeadSeqs): void {
    this.#keepNewestSeq(heads);
    this.sendAgain();
  }

  /** Sends the wake-ups whose send has failed. */
  sendAgain(): void {
    if (this.#state === 'idle') void this.#sendAll();
  }

  /** Sends nothing from now on. */
  close(): void {
    this.#state = 'closed';
    this.#heads.clear();
  }

  async #sendAll(): Promise<void> {
    while (this.#state !== 'closed' && this.#heads.size > 0) {
      this.#state = 'sending';
      const heads = this.#heads;
      this.#heads = new Map();
      const pause = new Promise<void>((resolve) => this.#options.clock.after(WAKE_PAUSE_MS, resolve));
      const [sent] = await Promise.allSettled([this.#options.send(heads), pause]);
      if (sent.status === 'fulfilled') continue;
      this.#keepNewestSeq(heads);
      break;
    }
    if (this.#state === 'sending') this.#state = 'idle';
  }

  #keepNewestSeq(heads: HeadSeqs): void {
    for (const [taskId, seq] of heads) this.#heads.set(taskId, Math.max(seq, this.#heads.get(taskId) ?? 0));
  }
}
