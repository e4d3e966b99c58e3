/**
 * Records which MCP client of this process delegated which task. With `--on-disconnect cancel`, the bridge cancels the
 * tasks of a client that disconnects.
 *
 * A task belongs to the client that sent the last message to its session, through any bridge of the user. Decisions and
 * waits do not count. In doubt the task continues.
 */
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Outbox } from '../state/outbox.ts';
import type { DelegationService } from './deliver-delegations.ts';
import type { LiveSessions } from './sessions-in-memory.ts';
import { newestMessage } from './open-entries.ts';
import type { Session } from './session.ts';

/** The connection of one MCP client, compared by identity. */
export interface ClientConnection {
  /** True if the client has disconnected. */
  left: boolean;
}

interface Delegated {
  client: ClientConnection;
  messageId: string;
}

interface ClientTasksParts {
  outbox: Pick<Outbox, 'open'>;
  live: Pick<LiveSessions, 'all'>;
  delegations: Pick<DelegationService, 'cancelMessage'>;
  log: Logger;
}

const REASON = 'the client closed the connection';

export class DelegatingClients {
  readonly #parts: ClientTasksParts;
  readonly #last = new WeakMap<Session, Delegated>();

  constructor(parts: ClientTasksParts) {
    this.#parts = parts;
  }

  /** Call this after the client has sent the message. If the client has disconnected since, cancels the message. */
  delegated(client: ClientConnection, session: Session, messageId: string): void {
    this.#last.set(session, { client, messageId });
    if (client.left) void this.#cancel(session, messageId);
  }

  /**
   * Call this when the client joins the task of an identical call. From then on, the task does not end with another
   * client.
   */
  joined(client: ClientConnection, session: Session): void {
    if (this.#last.get(session)?.client !== client) this.#last.delete(session);
  }

  /**
   * Call this when the client has disconnected. Before the first await, the outbox has the cancels. Resolves when each
   * agent has responded or is unreachable. Never rejects.
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
