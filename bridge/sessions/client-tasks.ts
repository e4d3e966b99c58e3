/**
 * Remembers which MCP client of this process delegated which task. With `--on-disconnect cancel`, the bridge cancels the
 * tasks of a client that leaves.
 *
 * A task belongs to the client that sent the last message to its session, from any bridge of the user. Decisions and
 * waits do not count. In doubt the task goes on.
 */
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Outbox } from '../state/outbox.ts';
import type { DelegationService } from './delegation-service.ts';
import type { LiveSessions } from './live-sessions.ts';
import { newestMessage } from './newest-delegation.ts';
import type { Session } from './session.ts';

/** The connection of one MCP client. Compared by identity. */
export interface ClientConnection {
  /** The client has left, and the bridge cancels its tasks. */
  left: boolean;
}

interface Delegated {
  client: ClientConnection;
  /** The client's last message to the session. */
  messageId: string;
}

interface ClientTasksParts {
  outbox: Pick<Outbox, 'open'>;
  live: Pick<LiveSessions, 'all'>;
  delegations: Pick<DelegationService, 'cancelMessage'>;
  log: Logger;
}

const REASON = 'the client closed the connection';

export class ClientTasks {
  readonly #parts: ClientTasksParts;
  readonly #last = new WeakMap<Session, Delegated>();

  constructor(parts: ClientTasksParts) {
    this.#parts = parts;
  }

  /** Call this when the client has sent the message. If the client has left meanwhile, the bridge cancels the message. */
  delegated(client: ClientConnection, session: Session, messageId: string): void {
    this.#last.set(session, { client, messageId });
    if (client.left) void this.#cancel(session, messageId);
  }

  /** Call this when the client joins the task of an identical call. The task then belongs to no other client. */
  joined(client: ClientConnection, session: Session): void {
    if (this.#last.get(session)?.client !== client) this.#last.delete(session);
  }

  /**
   * Call this when the client has left. The outbox has the cancels before the first await. Resolves when the agents have
   * answered, or cannot be reached now. Never rejects.
   */
  async left(client: ClientConnection): Promise<void> {
    client.left = true;
    await Promise.all(
      this.#parts.live.all.map(async (session) => {
        const last = this.#last.get(session);
        if (last?.client === client && !session.over) await this.#cancel(session, last.messageId);
      }),
    );
  }

  async #cancel(session: Session, messageId: string): Promise<void> {
    const { outbox, delegations, log } = this.#parts;
    const facts = { sessionId: session.id, messageId, reason: REASON };
    try {
      const { agent, id, firstMessageId } = session;
      if (newestMessage(outbox.open(), agent.name, [id, firstMessageId])?.messageId !== messageId) return;
      log.info(facts, 'a task is cancelled with its client');
      await delegations.cancelMessage(session, messageId, REASON);
    } catch (error) {
      log.warn({ ...facts, problem: messageOf(error) }, 'a task could not be cancelled with its client');
    }
  }
}
