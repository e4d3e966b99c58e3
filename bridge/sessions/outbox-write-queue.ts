/**
 * Runs the outbox writes of each session one after the other, in the background. A caller that needs these writes to be
 * done waits with `of` or `settled`.
 */
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Session } from './session/session.ts';

export class OutboxWriteQueue {
  readonly #writes = new Map<Session, Promise<void>>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Runs the work after the earlier writes of the session. An error is only logged. */
  begin(session: Session, work: () => Promise<void>): void {
    const before = this.#writes.get(session) ?? Promise.resolve();
    const after = before.then(work).catch((error: unknown) => {
      this.#log.warn({ sessionId: session.id, err: error }, 'the outbox could not be brought up to date');
    });
    this.#writes.set(session, after);
    void after.then(() => this.#writes.get(session) === after && this.#writes.delete(session));
  }

  /** Resolves when all writes of the session are done. */
  async of(session: Session): Promise<void> {
    await this.#writes.get(session);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#writes.values());
  }
}
