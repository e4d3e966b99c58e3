/**
 * An ACP agent at work: its process, its ACP session, and the prompt it is answering.
 *
 * - What it says is kept, in order and up to a bound, until somebody reads it: a task that waits for a person reads nothing.
 * - A permission it asks for stays open until it is answered, or the agent takes it back. Each is answered once, and all
 *   that are open when a prompt is cancelled get the outcome `cancelled` (ACP v1, prompt turn: cancellation).
 * - Its end, whatever the cause, is a sentence that names it; after that nothing of its process group is left.
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
import type { AgentConnection, AgentPeer, PermissionRequest } from './agent-connection.ts';
import { permissionOf, type Permission } from './permission.ts';
import { updated } from './tool-call.ts';

/** Characters of what it says, as JSON, that are kept for a reader. */
const MAX_UNREAD = 16 * 1024 * 1024;
/** Tool calls it may have under way; the oldest is forgotten. */
const MAX_TOOL_CALLS = 1_000;

export type AgentItem =
  | { type: 'update'; update: SessionUpdate }
  /** It asks for permission; see `waiting`. Given as long as one is open and nothing else is left to read. */
  | { type: 'asks' }
  | { type: 'ended'; stopReason: StopReason }
  /** It answered the prompt with an error, or has ended. */
  | { type: 'failed'; message: string };

export interface LiveAgentOptions {
  clock: Clock;
  /** How long it may take to stop when it is told to, in milliseconds. */
  graceMs: number;
  /** Absolute path of the directory it works in. */
  workspace: string;
}

export class LiveAgent implements AgentPeer {
  /** Messages it has been given, by id. */
  readonly delivered = new Set<string>();
  /** Calls of ours whose permission it has been given, by id. */
  readonly permitted = new Set<string>();
  readonly #connection: AgentConnection;
  readonly #options: LiveAgentOptions;
  readonly #items: { item: AgentItem; size: number }[] = [];
  #unread = 0;
  readonly #toolCalls = new Map<string, ToolCallUpdate>();
  readonly #watched = new Map<string, (toolCall: ToolCallUpdate) => void>();
  #waiting: Permission[] = [];
  readonly #lookers = new Set<() => void>();
  /** `answered`: by the agent, and nobody has read it yet. `discarded`: nobody will. */
  #prompt: 'none' | 'open' | 'answered' | 'discarded' = 'none';
  #stopping: Promise<void> | undefined;
  #failure: string | undefined;
  #mourned = false;

  constructor(connection: AgentConnection, options: LiveAgentOptions) {
    this.#connection = connection;
    this.#options = options;
    connection.listen(this);
  }

  /** Permissions it waits for, the oldest first. */
  get waiting(): readonly Permission[] {
    return this.#waiting;
  }

  /** A prompt has been sent, and its end has not been read. */
  get speaking(): boolean {
    return this.#prompt === 'open' || this.#prompt === 'answered';
  }

  /** It is at work on a prompt. */
  get prompted(): boolean {
    return this.#prompt === 'open' || this.#prompt === 'discarded';
  }

  /** It is at work on a prompt that was cancelled. */
  get discarding(): boolean {
    return this.#prompt === 'discarded';
  }

  /** Why it has ended, as a sentence; undefined while it lives. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Whether somebody has read that it has ended. */
  get failureReported(): boolean {
    return this.#mourned;
  }

  /** Sends it words. Not before the end of the last prompt has been read. */
  prompt(text: string): void {
    this.#prompt = 'open';
    void this.#answer(text);
  }

  /** The next thing it says. @throws AbortError */
  next(signal: AbortSignal): Promise<AgentItem> {
    return this.until(() => this.#take(), signal);
  }

  /** What `look` gives as soon as it gives something; it is asked after each change. @throws AbortError */
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
        reject(new DOMException('Nobody waits for the agent any more.', 'AbortError'));
      });
      if (!signal.aborted) again();
    });
  }

  /** What is known of a tool call; `watch` gets the rest of what is told of it, instead of the reader. */
  toolCall(toolCallId: string): ToolCallUpdate | undefined {
    return this.#toolCalls.get(toolCallId);
  }

  watch(toolCallId: string, told: (toolCall: ToolCallUpdate) => void): () => void {
    this.#watched.set(toolCallId, told);
    return () => this.#watched.delete(toolCallId);
  }

  /** Has it stop what it does for the prompt; whoever reads it finds the prompt's end. Resolves when it has, or is killed. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop().finally(() => (this.#stopping = undefined));
    return this.#stopping;
  }

  /** As `stop`, and nobody is going to read what it has said. */
  async cancel(): Promise<void> {
    if (!this.speaking && !this.prompted) return;
    if (this.#prompt === 'open') this.#prompt = 'discarded';
    if (this.#prompt === 'answered') this.#prompt = 'none';
    this.#forget();
    await this.stop();
  }

  /** Ends it, and all that it has started. Resolves when nothing of it is left. */
  end(): Promise<void> {
    this.#withdraw();
    return this.#connection.end();
  }

  async #answer(text: string): Promise<void> {
    const item = await this.#connection.prompt(text).then(
      (stopReason): AgentItem => ({ type: 'ended', stopReason }),
      (error: unknown): AgentItem => ({ type: 'failed', message: this.#connection.refusal(error) }),
    );
    // What it said before has arrived before; it is to be kept before, too.
    await nextTurn();
    if (!this.#connection.closed) this.#answered(item);
  }

  async #stop(): Promise<void> {
    this.#withdraw();
    if (!this.prompted || this.#failure !== undefined) return;
    const { clock, graceMs } = this.#options;
    const patience = new AbortController();
    const callOff = clock.after(graceMs, () => patience.abort());
    this.#connection.cancelPrompt();
    try {
      await this.until(() => !this.prompted || this.#failure !== undefined || undefined, patience.signal);
    } catch {
      this.#connection.giveUp('did not stop when it was told to');
      await this.end();
    } finally {
      callOff();
    }
  }

  told(update: SessionUpdate): void {
    if (this.#prompt === 'discarded') return;
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
      const toolCall = this.#remember(update);
      const watcher = this.#watched.get(update.toolCallId);
      if (watcher) {
        watcher(toolCall);
        return this.#changed();
      }
    }
    this.#keep({ type: 'update', update });
  }

  asked({ toolCall, options, answer }: PermissionRequest): () => void {
    if (this.#prompt !== 'open') {
      answer({ outcome: 'cancelled' });
      return () => undefined;
    }
    const once = (outcome: RequestPermissionOutcome): void => {
      this.#waiting = this.#waiting.filter((open) => open !== permission);
      answer(outcome);
    };
    const permission = permissionOf(
      this.#remember(toolCall),
      { options, answer: once },
      this.#options.workspace,
    );
    this.#waiting.push(permission);
    this.#changed();
    return () => {
      this.#waiting = this.#waiting.filter((open) => open !== permission);
      this.#changed();
    };
  }

  lost(message: string): void {
    this.#failure ??= message;
    this.#waiting = [];
    if (this.#prompt === 'discarded') this.#prompt = 'none';
    this.#changed();
  }

  #take(): AgentItem | undefined {
    const kept = this.#items.shift();
    if (kept) {
      this.#unread -= kept.size;
      if (kept.item.type === 'ended' || kept.item.type === 'failed') this.#prompt = 'none';
      return kept.item;
    }
    if (this.#failure !== undefined) {
      this.#mourned = true;
      return { type: 'failed', message: this.#failure };
    }
    return this.#waiting.length > 0 ? { type: 'asks' } : undefined;
  }

  #keep(item: AgentItem): void {
    const size = JSON.stringify(item).length;
    if (this.#unread + size > MAX_UNREAD)
      return this.#connection.giveUp('said more at once than can be kept');
    this.#items.push({ item, size });
    this.#unread += size;
    this.#changed();
  }

  #answered(item: AgentItem): void {
    this.#withdraw();
    if (this.#prompt === 'discarded') {
      this.#prompt = 'none';
      return this.#changed();
    }
    this.#prompt = 'answered';
    this.#keep(item);
  }

  #withdraw(): void {
    for (const permission of this.#waiting) permission.answer({ outcome: 'cancelled' });
  }

  #forget(): void {
    this.#items.length = 0;
    this.#unread = 0;
    this.#toolCalls.clear();
  }

  #remember(update: ToolCallUpdate): ToolCallUpdate {
    const toolCall = updated(this.#toolCalls.get(update.toolCallId), update);
    this.#toolCalls.set(update.toolCallId, toolCall);
    const [oldest] = this.#toolCalls.keys();
    if (this.#toolCalls.size > MAX_TOOL_CALLS && oldest !== undefined) this.#toolCalls.delete(oldest);
    return toolCall;
  }

  #changed(): void {
    for (const look of this.#lookers) look();
  }
}
