/**
 * Turns MCP progress notifications into lines of text. It reads them from the transport in their order. The SDK
 * delivers a notification later than a response, so it would lose the last one before a response.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ToolProgress } from '../../shared/protocol/tool-approval.ts';
import { oneLine } from '../../shared/text/one-line.ts';

/** The maximum length of a server's message, in characters. */
const MAX_LINE = 300;

const notification = z.looseObject({
  method: z.literal('notifications/progress'),
  params: z.looseObject({
    progressToken: z.string(),
    progress: z.number(),
    total: z.number().optional(),
    message: z.string().optional(),
  }),
});
type Told = z.infer<typeof notification>['params'];

/** Gets each notification as one line, and its steps if the server knows their number. */
export type OnProgressLine = (line: string, steps?: ToolProgress) => void;

export class ProgressLines {
  readonly #listeners = new Map<string, OnProgressLine>();
  #last = 0;

  /** Create this before the client takes the transport: the client keeps an existing handler. */
  constructor(transport: Transport) {
    Object.assign(transport, { onmessage: (message: JSONRPCMessage) => this.#take(message) });
  }

  /** @returns the progress token for the request, and a function to stop listening */
  tell(listener: OnProgressLine): { token: string; stop: () => void } {
    const token = `call-${(this.#last += 1)}`;
    this.#listeners.set(token, listener);
    return { token, stop: () => void this.#listeners.delete(token) };
  }

  #take(message: JSONRPCMessage): void {
    if (!('method' in message) || message.method !== 'notifications/progress') return;
    const { data } = notification.safeParse(message);
    if (data === undefined) return;
    const { progressToken, progress, total } = data.params;
    const steps = total !== undefined && total > 0 ? { done: progress, total } : undefined;
    this.#listeners.get(progressToken)?.(lineOf(data.params), steps);
  }
}

function lineOf({ progress, total, message }: Told): string {
  const share =
    total === undefined || !(total > 0) ? String(progress) : `${Math.round((progress / total) * 100)}%`;
  return message === undefined ? share : `${oneLine(message, MAX_LINE)} (${share})`;
}
