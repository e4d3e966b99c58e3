/** Stores the state of one MCP server, and wakes calls that wait for another state. */
import { onAbort } from '../../shared/runtime/abort.ts';
import type { McpServerConnection } from './connection.ts';

type McpServerState =
  | { type: 'starting' }
  | { type: 'ready'; connection: McpServerConnection }
  /** The server is disconnected. The client tries to connect again until the server is closed. */
  | { type: 'down'; error: string };

export class McpServerStateStore {
  readonly #onChange: () => void;
  readonly #life: AbortSignal;
  readonly #waiting = new Set<() => void>();
  #current: McpServerState = { type: 'starting' };

  constructor(life: AbortSignal, onChange: () => void) {
    this.#life = life;
    this.#onChange = onChange;
  }

  get current(): McpServerState {
    return this.#current;
  }

  set(state: McpServerState): void {
    this.#current = state;
    this.wakeCalls();
  }

  /** Wakes all waiting tool calls. Must be called after a change of the tools, and after the server is closed. */
  wakeCalls(): void {
    this.#onChange();
    for (const look of this.#waiting) look();
  }

  /** Resolves when `is` returns true for the state, the signal aborts, or the server is closed. */
  waitFor(is: (state: McpServerState) => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let stopListening: (() => void) | undefined;
      const look = (): void => {
        if (!is(this.#current) && !signal.aborted && !this.#life.aborted) return;
        this.#waiting.delete(look);
        stopListening?.();
        resolve();
      };
      this.#waiting.add(look);
      stopListening = onAbort(signal, look);
      look();
    });
  }
}
