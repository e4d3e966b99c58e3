/**
 * Records which MCP client of this process delegated which task. With `--on-disconnect cancel`, the bridge cancels the
 * tasks of a client that disconnects.
 *
 * A task belongs to the client that sent the last message to its session, through any bridge of the user. Decisions and
 * waits do not count as such messages. If the client of a task is uncertain, the task continues.
 */
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Outbox } from '../state/outbox.ts';
import type { DelegationService } from './deliver-delegations.ts';
import type { LiveSessions } from './live-sessions.ts';
import { newestEntryOfSession } from './search-open-outbox-entries.ts';
import type { Session } from './session/session.ts';

/** The connection of one MCP client. Two connections are equal only if they are the same object. */
export interface ClientConnection {
  /** True if the client has disconnected. */
  isDisconnected: boolean;
}

interface DelegatedMessage {
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
  readonly #last = new WeakMap<Session, DelegatedMessage>();

  constructor(parts: ClientTasksParts) {
    this.#parts = parts;
  }

  /**
   * Records that the client has sent a message to the session. If the client has disconnected meanwhile, the bridge
   * cancels the message's task.
   */
  delegated(client: ClientConnection, session: Session, messageId: string): void {
    this.#last.set(session, { client, messageId });
    if (client.isDisconnected) void this.#cancel(session, messageId);
  }

  /**
   * Records that the client joins a task that an identical tool call started. The task then no longer ends when another
   * client disconnects.
   */
  joined(client: ClientConnection, session: Session): void {
    if (this.#last.get(session)?.client !== client) this.#last.delete(session);
  }

  /**
   * Records that the client has disconnected, and cancels its tasks. The cancels are in the outbox before this function
   * first waits. Resolves when each agent has responded or is unreachable. Never rejects.
   */
  async handleDisconnect(client: ClientConnection): Promise<void> {
    client.isDisconnected = true;
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
      if (newestEntryOfSession(outbox.open(), agent.name, [id, firstMessageId])?.messageId !== messageId)
        return;
      log.info(facts, 'a client disconnected, so its task is cancelled');
      await delegations.cancelMessage(session, messageId, REASON);
    } catch (error) {
      log.warn(
        { ...facts, problem: errorMessageOf(error) },
        'a client disconnected, but its task could not be cancelled',
      );
    }
  }
}
