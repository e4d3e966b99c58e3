/**
 * The open calls of one client, and the tasks that the client has sent messages to. With the setting
 * `onDisconnect: cancel`, a disconnect of the client cancels these tasks. It does not cancel a task that the client
 * only waits for.
 */
import type { RequestId } from '@modelcontextprotocol/server';
import { messageOf } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { CancelEnd } from '../../sessions/cancel-task.ts';
import type { DelegationService } from '../../sessions/delegation-service.ts';
import type { Session } from '../../sessions/session.ts';
import { causeWords, CLIENT_GONE } from './cause.ts';

export interface SentWork {
  session: Session;
  delegations: DelegationService;
}

export class ClientTasks {
  readonly #calls = new Map<RequestId, () => void>();
  #sent: readonly SentWork[] = [];
  readonly #cancels = new Map<Session, Promise<CancelEnd>>();

  /** @param lost called when the connection of this call breaks. @returns a function; call it when the call ends */
  opened(requestId: RequestId, lost: () => void): () => void {
    this.#calls.set(requestId, lost);
    return () => void this.#calls.delete(requestId);
  }

  /** Call this when the connection for the answer of this call breaks. */
  lost(requestId: RequestId): void {
    this.#calls.get(requestId)?.();
  }

  /** Call this when a call has sent a message to this session. */
  sent(work: SentWork): void {
    const others = this.#sent.filter(({ session }) => session !== work.session && !session.over);
    this.#sent = [...others, work];
  }

  hasSent(session: Session): boolean {
    return this.#sent.some((work) => work.session === session);
  }

  /** Cancels a task. If a cancel is already under way, it returns that cancel. */
  cancel({ session, delegations }: SentWork, reason: string): Promise<CancelEnd> {
    const running = this.#cancels.get(session);
    if (running !== undefined) return running;
    const cancel = delegations.cancel(session, reason).finally(() => this.#cancels.delete(session));
    this.#cancels.set(session, cancel);
    return cancel;
  }

  /** Cancels all unfinished tasks of the client, because the client has disconnected. Never rejects. */
  async cancelAll(log: Logger): Promise<void> {
    const works = this.#sent.filter(({ session }) => !session.over);
    await Promise.all(
      works.map(async (work) => {
        const { id: sessionId } = work.session;
        const why = causeWords(CLIENT_GONE);
        try {
          const fate = await this.cancel(work, why);
          log.info({ sessionId, fate, reason: why }, 'a task was cancelled with its client');
        } catch (error) {
          log.warn({ sessionId, problem: messageOf(error) }, 'a task could not be cancelled with its client');
        }
      }),
    );
  }
}
