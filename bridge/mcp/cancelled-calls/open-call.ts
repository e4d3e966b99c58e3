/**
 * Detects the cancellation of an open call (R48). The client may cancel the call, time out or disconnect. The MCP SDK
 * then discards the response. The task does not depend on the call (E4).
 *
 * Invariants
 * - If a call is cancelled before it sends its message, nothing is sent. After that, the setting decides whether the
 *   task continues or is cancelled. If the message is being sent, it is still delivered. Its task is then cancelled if
 *   the setting says so.
 * - The log contains the outcome, the request's id and the client's reason. If the client requested progress, the last
 *   progress message reports the outcome. The client's next call reports it too.
 */
import type { RequestId } from '@modelcontextprotocol/server';
import { onAbort } from '../../../shared/runtime/abort.ts';
import { messageOf } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { DelegationService } from '../../sessions/deliver-delegations.ts';
import type { Session } from '../../sessions/session.ts';
import { hasEnded } from '../../sessions/task-view.ts';
import type { ToolName } from '../../tool-names/tool-names.ts';
import { type CancelCause, cancelCauseOf, causeWords, effectOfCause, type OnCancel } from './cause.ts';
import { type TaskOutcome, outcomeText, type CancelledCall, type CancelledCalls } from './cancelled-calls.ts';

/** The session that a call waits for. Set after the call has sent its message or found its session. */
export interface AwaitedWork {
  session: Session;
  delegations: DelegationService;
  /** The delivery of the call's message, if it sent one. */
  delivery?: Promise<void>;
}

interface OpenCallOptions {
  signal: AbortSignal;
  requestId: RequestId;
  tool: ToolName;
  onCancel: OnCancel;
  withdrawals: CancelledCalls;
  log: Logger;
  finalText: (words: string) => Promise<void>;
}

export class OpenCall {
  readonly #watching: OpenCallOptions;
  readonly #unwatch: () => void;
  #awaited: AwaitedWork | undefined;
  #cause: CancelCause | undefined;

  constructor(watching: OpenCallOptions) {
    this.#watching = watching;
    this.#unwatch = onAbort(watching.signal, () => this.#withdrawn());
  }

  get withdrawn(): boolean {
    return this.#cause !== undefined;
  }

  /** Call this immediately before sending. @throws if the call is cancelled; the caller must then send nothing */
  beforeSending(): void {
    if (this.#cause === undefined) return;
    this.#tell({ tool: this.#watching.tool, cause: this.#cause, fate: { type: 'unsent' } });
    throw new Error('The client cancelled the call before the bridge sent anything.');
  }

  /** Sets the session that the call waits for. If the call is already cancelled, decides the effect on the task now. */
  awaits(awaited: AwaitedWork): void {
    this.#awaited = awaited;
    if (this.#cause !== undefined) this.#settle(this.#cause, awaited);
  }

  end(): void {
    this.#unwatch();
  }

  #withdrawn(): void {
    this.#cause = cancelCauseOf(this.#watching.signal.reason);
    const { requestId, tool, log } = this.#watching;
    const { name, words } = this.#cause;
    log.info({ requestId, tool, cause: name, reason: words }, 'the client cancelled a call');
    if (this.#awaited !== undefined) this.#settle(this.#cause, this.#awaited);
  }

  #settle(cause: CancelCause, { session, delegations, delivery }: AwaitedWork): void {
    const { tool, onCancel } = this.#watching;
    const cancels = effectOfCause(cause, onCancel) === 'cancel';
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
    const { withdrawals, finalText, requestId, tool, log } = this.#watching;
    withdrawals.add(call);
    log.info(
      { requestId, tool, sessionId: call.session?.id, fate: call.fate.type },
      'the effect of a cancelled call',
    );
    // The notification may fail, because the client may have disconnected.
    const named = call.session === undefined ? '' : ` Its session is ${call.session.id}.`;
    finalText(`${causeWords(call.cause)}. ${outcomeText(call.fate)}${named}`).catch(() => undefined);
  }

  #learn(call: CancelledCall, fate: TaskOutcome): void {
    call.fate = fate;
    const { requestId, log } = this.#watching;
    log.info({ requestId, sessionId: call.session?.id, fate: fate.type }, 'the outcome of a cancelled call');
  }
}
