/**
 * A call in flight, watched for its withdrawal (R48): the client takes it back, times out or goes away. Its answer, if one
 * is still made, is thrown away by the protocol layer; the task is the task's own affair (E4).
 *
 * Invariants
 * - Before anything has been sent, a withdrawn call sends nothing. From then on its task is settled as the setting says:
 *   it goes on, or is cancelled. Nothing lies in between: a message on its way is delivered, and cancelled then.
 * - What became of it is logged with the request's id and the client's reason, is the call's last progress message where
 *   the client asked for progress, and is told with the client's next call.
 */
import type { RequestId } from '@modelcontextprotocol/server';
import { onAbort } from '../../../shared/runtime/abort.ts';
import { messageOf } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { DelegationService } from '../../sessions/delegation-service.ts';
import type { Session } from '../../sessions/session.ts';
import { hasEnded } from '../../sessions/task-view.ts';
import type { ToolName } from '../../tool-names/tool-name.ts';
import { type Cause, causeOf, causeWords, effectOf, type OnCancel } from './cause.ts';
import { type TaskOutcome, outcomeText, type CancelledCall, type CancelledCalls } from './cancelled-calls.ts';

/** What a call waits for, from the moment it has sent its message or has found its session. */
export interface AwaitedWork {
  session: Session;
  delegations: DelegationService;
  /** Its message on its way, if it sent one. */
  delivery?: Promise<void>;
}

export interface Watching {
  signal: AbortSignal;
  requestId: RequestId;
  tool: ToolName;
  onCancel: OnCancel;
  withdrawals: CancelledCalls;
  log: Logger;
  /** The last the client hears of this call. */
  lastWords: (words: string) => Promise<void>;
}

export class OpenCall {
  readonly #watching: Watching;
  readonly #unwatch: () => void;
  #awaited: AwaitedWork | undefined;
  #cause: Cause | undefined;

  constructor(watching: Watching) {
    this.#watching = watching;
    this.#unwatch = onAbort(watching.signal, () => this.#withdrawn());
  }

  get withdrawn(): boolean {
    return this.#cause !== undefined;
  }

  /** To be asked right before something is sent. @throws when the call has been withdrawn: nothing is to be sent then */
  beforeSending(): void {
    if (this.#cause === undefined) return;
    this.#tell({ tool: this.#watching.tool, cause: this.#cause, fate: { type: 'unsent' } });
    throw new Error('The call was withdrawn before it had sent anything.');
  }

  /** The call waits from here on: should it be withdrawn, or have been, this is what it is about. */
  awaits(awaited: AwaitedWork): void {
    this.#awaited = awaited;
    if (this.#cause !== undefined) this.#settle(this.#cause, awaited);
  }

  end(): void {
    this.#unwatch();
  }

  #withdrawn(): void {
    this.#cause = causeOf(this.#watching.signal.reason);
    const { requestId, tool, log } = this.#watching;
    const { name, words } = this.#cause;
    log.info({ requestId, tool, cause: name, reason: words }, 'the client withdrew a call');
    if (this.#awaited !== undefined) this.#settle(this.#cause, this.#awaited);
  }

  #settle(cause: Cause, { session, delegations, delivery }: AwaitedWork): void {
    const { tool, onCancel } = this.#watching;
    const cancels = effectOf(cause, onCancel) === 'cancel';
    const ended = session.view !== undefined && hasEnded(session.view) && delivery === undefined;
    const call: CancelledCall = {
      tool,
      cause,
      session,
      fate: { type: ended ? 'ended-before' : cancels ? 'cancelling' : 'goes-on' },
    };
    this.#tell(call);
    delivery?.catch((error: unknown) => this.#learn(call, { type: 'refused', message: messageOf(error) }));
    if (ended || !cancels) return;
    delegations.cancel(session, causeWords(cause)).then(
      (type) => this.#learn(call, { type }),
      (error: unknown) => this.#learn(call, { type: 'not-cancelled', message: messageOf(error) }),
    );
  }

  #tell(call: CancelledCall): void {
    const { withdrawals, lastWords, requestId, tool, log } = this.#watching;
    withdrawals.add(call);
    log.info(
      { requestId, tool, sessionId: call.session?.id, fate: call.fate.type },
      'what becomes of a withdrawn call',
    );
    // To a client that has gone there is nothing to say.
    const named = call.session === undefined ? '' : ` Its session is ${call.session.id}.`;
    lastWords(`${causeWords(call.cause)}. ${outcomeText(call.fate)}${named}`).catch(() => undefined);
  }

  #learn(call: CancelledCall, fate: TaskOutcome): void {
    call.fate = fate;
    const { requestId, log } = this.#watching;
    log.info({ requestId, sessionId: call.session?.id, fate: fate.type }, 'what became of a withdrawn call');
  }
}
