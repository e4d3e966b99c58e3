/**
 * Connects a running ACP agent to the turns of a task. Queues the updates and the permission requests of the agent.
 *
 * - The queue keeps updates in order and has a limit. While a task waits for a person, no turn reads the queue.
 * - A permission request is open until it gets its one answer, or until the agent withdraws it.
 * - After a cancel, each open request gets the outcome `cancelled` (ACP v1, prompt turn: cancellation).
 * - If the agent ends, a message gives the reason. The agent's process group ends too.
 */
import type {
  RequestPermissionOutcome,
  SessionUpdate,
  StopReason,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { onAbort } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { setBounded } from '../../../shared/runtime/set-bounded.ts';
import { startTimeout } from '../../runtime/timeout.ts';
import type { AcpConnection, AcpListener, PendingAcpRequest } from './agent-connection.ts';
import { toPendingAcpPermission, type PendingAcpPermission } from './permission.ts';
import { mergeToolCallUpdate } from './read-tool-call.ts';

const MAX_UNREAD_JSON_CHARS = 16 * 1024 * 1024;
/** The maximum number of known tool calls. Above it, the oldest tool call is dropped. */
const MAX_TOOL_CALLS = 1_000;

export type AcpAgentEvent =
  | { type: 'update'; update: SessionUpdate }
  /** The queue is empty, and `waiting` contains a permission request. */
  | { type: 'asks' }
  | { type: 'ended'; stopReason: StopReason }
  /** The agent answered the prompt with an error, or the agent has ended. */
  | { type: 'failed'; message: string };

interface LiveAgentOptions {
  clock: Clock;
  /** The time limit for the agent to stop after a cancel. */
  graceMs: number;
  workspace: string;
}

export class LiveAcpAgent implements AcpListener {
  readonly delivered = new Set<string>();
  readonly permitted = new Set<string>();
  readonly #connection: AcpConnection;
  readonly #options: LiveAgentOptions;
  readonly #items: { item: AcpAgentEvent; size: number }[] = [];
  #unread = 0;
  readonly #toolCalls = new Map<string, ToolCallUpdate>();
  readonly #watched = new Map<string, (toolCall: ToolCallUpdate) => void>();
  #waiting: PendingAcpPermission[] = [];
  readonly #lookers = new Set<() => void>();
  /**
   * `answered`: the agent has answered, and no turn has read the answer yet. `discarded`: the prompt was cancelled, so
   * its answer is ignored.
   */
  #prompt: 'none' | 'open' | 'answered' | 'discarded' = 'none';
  #stopping: Promise<void> | undefined;
  #failure: string | undefined;
  #failureReported = false;

  constructor(connection: AcpConnection, options: LiveAgentOptions) {
    this.#connection = connection;
    this.#options = options;
    connection.listen(this);
  }

  get waiting(): readonly PendingAcpPermission[] {
    return this.#waiting;
  }

  /** True from a prompt until a turn has read its end. False if the prompt is discarded. */
  get speaking(): boolean {
    return this.#prompt === 'open' || this.#prompt === 'answered';
  }

  get prompted(): boolean {
    return this.#prompt === 'open' || this.#prompt === 'discarded';
  }

  get discarding(): boolean {
    return this.#prompt === 'discarded';
  }

  /** The reason for the agent's end. Undefined while the agent runs. */
  get failure(): string | undefined {
    return this.#failure;
  }

  get failureReported(): boolean {
    return this.#failureReported;
  }

  /** Sends a prompt. Before this call, a turn must have read the end of the last prompt. */
  prompt(text: string): void {
    this.#prompt = 'open';
    void this.#waitForPromptEnd(text);
  }

  /** Waits for the next item. @throws AbortError */
  next(signal: AbortSignal): Promise<AcpAgentEvent> {
    return this.until(() => this.#takeItem(), signal);
  }

  /** Calls `look` now and after each change. Resolves with the first value that is not undefined. @throws AbortError */
  until<T>(look: () => T | undefined, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        stopListening();
        this.#lookers.delete(again);
      };
      const again = (): void => {
        const found = look();
        if (found === undefined) return;
        leave();
        resolve(found);
      };
      this.#lookers.add(again);
      const stopListening = onAbort(signal, () => {
        this.#lookers.delete(again);
        reject(new DOMException('The task no longer waits for the agent.', 'AbortError'));
      });
      if (!signal.aborted) again();
    });
  }

  toolCall(toolCallId: string): ToolCallUpdate | undefined {
    return this.#toolCalls.get(toolCallId);
  }

  /**
   * Passes later updates of a tool call to `told` instead of the queue that the turn reads.
   * @returns a function that sends later updates to the queue again
   */
  watch(toolCallId: string, told: (toolCall: ToolCallUpdate) => void): () => void {
    this.#watched.set(toolCallId, told);
    return () => this.#watched.delete(toolCallId);
  }

  /**
   * Cancels the prompt. A turn can still read the end of the prompt. Resolves when the agent has stopped or was killed.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop().finally(() => (this.#stopping = undefined));
    return this.#stopping;
  }

  /** Cancels the prompt and discards all unread updates. Resolves when the agent has stopped or was killed. */
  async cancel(): Promise<void> {
    if (!this.speaking && !this.prompted) return;
    if (this.#prompt === 'open') this.#prompt = 'discarded';
    if (this.#prompt === 'answered') this.#prompt = 'none';
    this.#clearTurn();
    await this.stop();
  }

  end(): Promise<void> {
    this.#cancelPermissions();
    return this.#connection.end();
  }

  async #waitForPromptEnd(text: string): Promise<void> {
    const item = await this.#connection.prompt(text).then(
      (stopReason): AcpAgentEvent => ({ type: 'ended', stopReason }),
      (error: unknown): AcpAgentEvent => ({ type: 'failed', message: this.#connection.refusal(error) }),
    );
    // All earlier updates have arrived. This wait lets their handlers put them into the queue before the prompt's end.
    await nextTurn();
    if (!this.#connection.closed) this.#endPrompt(item);
  }

  async #stop(): Promise<void> {
    this.#cancelPermissions();
    if (!this.prompted || this.#failure !== undefined) return;
    const { clock, graceMs } = this.#options;
    const limit = startTimeout(clock, graceMs);
    this.#connection.cancelPrompt();
    try {
      await this.until(() => !this.prompted || this.#failure !== undefined || undefined, limit.signal);
    } catch {
      this.#connection.endAfterViolation('did not stop on request');
      await this.end();
    } finally {
      limit.clear();
    }
  }

  onUpdate(update: SessionUpdate): void {
    if (this.#prompt === 'discarded') return;
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
      const toolCall = this.#mergeToolCall(update);
      const watcher = this.#watched.get(update.toolCallId);
      if (watcher) {
        watcher(toolCall);
        return this.#callLookers();
      }
    }
    this.#queueItem({ type: 'update', update });
  }

  onPermissionRequest({ toolCall, options, answer }: PendingAcpRequest): () => void {
    if (this.#prompt !== 'open') {
      answer({ outcome: 'cancelled' });
      return () => undefined;
    }
    const once = (outcome: RequestPermissionOutcome): void => {
      this.#waiting = this.#waiting.filter((open) => open !== permission);
      answer(outcome);
    };
    const permission = toPendingAcpPermission(
      this.#mergeToolCall(toolCall),
      { options, answer: once },
      this.#options.workspace,
    );
    this.#waiting.push(permission);
    this.#callLookers();
    return () => {
      this.#waiting = this.#waiting.filter((open) => open !== permission);
      this.#callLookers();
    };
  }

  onEnd(message: string): void {
    this.#failure ??= message;
    this.#waiting = [];
    if (this.#prompt === 'discarded') this.#prompt = 'none';
    this.#callLookers();
  }

  #takeItem(): AcpAgentEvent | undefined {
    const kept = this.#items.shift();
    if (kept) {
      this.#unread -= kept.size;
      if (kept.item.type === 'ended' || kept.item.type === 'failed') this.#prompt = 'none';
      return kept.item;
    }
    if (this.#failure !== undefined) {
      this.#failureReported = true;
      return { type: 'failed', message: this.#failure };
    }
    return this.#waiting.length > 0 ? { type: 'asks' } : undefined;
  }

  #queueItem(item: AcpAgentEvent): void {
    const size = JSON.stringify(item).length;
    if (this.#unread + size > MAX_UNREAD_JSON_CHARS)
      return this.#connection.endAfterViolation('sent more at once than the server can hold');
    this.#items.push({ item, size });
    this.#unread += size;
    this.#callLookers();
  }

  #endPrompt(item: AcpAgentEvent): void {
    this.#cancelPermissions();
    if (this.#prompt === 'discarded') {
      this.#prompt = 'none';
      return this.#callLookers();
    }
    this.#prompt = 'answered';
    this.#queueItem(item);
  }

  #cancelPermissions(): void {
    for (const permission of this.#waiting) permission.answer({ outcome: 'cancelled' });
  }

  #clearTurn(): void {
    this.#items.length = 0;
    this.#unread = 0;
    this.#toolCalls.clear();
  }

  #mergeToolCall(update: ToolCallUpdate): ToolCallUpdate {
    const toolCall = mergeToolCallUpdate(this.#toolCalls.get(update.toolCallId), update);
    setBounded(this.#toolCalls, update.toolCallId, toolCall, MAX_TOOL_CALLS);
    return toolCall;
  }

  #callLookers(): void {
    for (const look of this.#lookers) look();
  }
}
