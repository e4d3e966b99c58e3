/**
 * Watches a tool call that has not been answered yet. R48: detects that the client cancels the tool call, reaches its
 * time limit or disconnects. The MCP SDK then discards the response. E4: a lost connection stops no task.
 *
 * Invariants
 * - If the tool call is cancelled before it sends its message, nothing is sent. If it is cancelled later, the setting
 *   `onCancel` decides whether the task is cancelled. A message that is being sent at that moment is still delivered.
 *   Its task is cancelled if the setting says so.
 * - The outcome, the request id and the client's reason are logged. If the client requested progress, the last progress
 *   message reports the outcome. The reply to the client's next tool call reports it too.
 */
import type { RequestId } from '@modelcontextprotocol/server';
import { onAbort } from '../../../shared/runtime/abort.ts';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { DelegationService } from '../../sessions/deliver-delegations.ts';
import type { Session } from '../../sessions/session/session.ts';
import { hasEnded } from '../../sessions/session/observed-task.ts';
import type { ToolName } from '../../tool-names/tool-names.ts';
import type { OnCancel } from '../../settings/on-cancel.ts';
import { type CancelCause, cancelCauseOf, cancelCauseText, effectOfCancelCause } from './cancel-cause.ts';
import {
  type CancelledTaskOutcome,
  cancelledTaskOutcomeText,
  type CancelledMcpCall,
  type CancelledMcpCalls,
} from './cancelled-calls.ts';

/**
 * The session that a tool call waits for. It is known after the tool call has sent its message or found its session.
 */
export interface AwaitedWork {
  session: Session;
  delegations: DelegationService;
  /** The delivery of the message. Absent if the tool call has sent none. */
  delivery?: Promise<void> | undefined;
}

interface OpenCallOptions {
  signal: AbortSignal;
  requestId: RequestId;
  tool: ToolName;
  onCancel: OnCancel;
  withdrawals: CancelledMcpCalls;
  log: Logger;
  finalText: (words: string) => Promise<void>;
}

export class OpenMcpCall {
  readonly #watching: OpenCallOptions;
  readonly #unwatch: () => void;
  #awaited: AwaitedWork | undefined;
  #cause: CancelCause | undefined;

  constructor(watching: OpenCallOptions) {
    this.#watching = watching;
    this.#unwatch = onAbort(watching.signal, () => this.#handleCancel());
  }

  get withdrawn(): boolean {
    return this.#cause !== undefined;
  }

  /**
   * Throws if the tool call is cancelled. The tool must call this method immediately before it sends a message. If this
   * method throws, the tool must send nothing.
   */
  beforeSending(): void {
    if (this.#cause === undefined) return;
    this.#reportCancel({ tool: this.#watching.tool, cause: this.#cause, outcome: { type: 'unsent' } });
    throw new Error('The client cancelled the call before the bridge sent anything.');
  }

  /**
   * Sets the session that the tool call waits for. If the tool call is already cancelled, also decides what happens to
   * the task.
   */
  awaits(awaited: AwaitedWork): void {
    this.#awaited = awaited;
    if (this.#cause !== undefined) this.#settleWork(this.#cause, awaited);
  }

  end(): void {
    this.#unwatch();
  }

  #handleCancel(): void {
    this.#cause = cancelCauseOf(this.#watching.signal.reason);
    const { requestId, tool, log } = this.#watching;
    const { name, words } = this.#cause;
    log.info({ requestId, tool, cause: name, reason: words }, 'the client cancelled a call');
    if (this.#awaited !== undefined) this.#settleWork(this.#cause, this.#awaited);
  }

  #settleWork(cause: CancelCause, { session, delegations, delivery }: AwaitedWork): void {
    const { tool, onCancel } = this.#watching;
    const cancels = effectOfCancelCause(cause, onCancel) === 'cancel';
    const ended = session.view !== undefined && hasEnded(session.view) && delivery === undefined;
    const call: CancelledMcpCall = {
      tool,
      cause,
      session,
      outcome: { type: ended ? 'ended-before' : cancels ? 'cancelling' : 'goes-on' },
    };
    this.#reportCancel(call);
    delivery?.catch((error: unknown) =>
      this.#recordOutcome(call, { type: 'refused', message: errorMessageOf(error) }),
    );
    if (ended || !cancels) return;
    delegations.cancel(session, cancelCauseText(cause)).then(
      (type) => this.#recordOutcome(call, { type }),
      (error: unknown) =>
        this.#recordOutcome(call, { type: 'not-cancelled', message: errorMessageOf(error) }),
    );
  }

  #reportCancel(call: CancelledMcpCall): void {
    const { withdrawals, finalText, requestId, tool, log } = this.#watching;
    withdrawals.add(call);
    log.info(
      { requestId, tool, sessionId: call.session?.id, outcome: call.outcome.type },
      'the effect of a cancelled call',
    );
    // `finalText` sends a progress notification. The notification fails if the client has disconnected. This error is
    // ignored.
    const named = call.session === undefined ? '' : ` Its session is ${call.session.id}.`;
    finalText(`${cancelCauseText(call.cause)}. ${cancelledTaskOutcomeText(call.outcome)}${named}`).catch(
      () => undefined,
    );
  }

  #recordOutcome(call: CancelledMcpCall, outcome: CancelledTaskOutcome): void {
    call.outcome = outcome;
    const { requestId, log } = this.#watching;
    log.info(
      { requestId, sessionId: call.session?.id, outcome: outcome.type },
      'the outcome of a cancelled call',
    );
  }
}
