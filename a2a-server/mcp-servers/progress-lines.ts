/**
 * What a server says of its progress, a line each. Read from the wire, in the order it came in: the SDK hands a notification
 * over a moment later than an answer, and what comes right before the answer would be lost.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { oneLine } from '../tools/one-line.ts';

/** Characters of what a server says. */
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

export class ProgressLines {
  readonly #listeners = new Map<string, (line: string) => void>();
  #last = 0;

  /** To be made before a client takes the transport: it leaves a handler that is there in its place. */
  constructor(transport: Transport) {
    Object.assign(transport, { onmessage: (message: JSONRPCMessage) => this.#take(message) });
  }

  /** @returns the token that the request is to carry, and how to stop listening. */
  tell(listener: (line: string) => void): { token: string; stop: () => void } {
    const token = `call-${(this.#last += 1)}`;
    this.#listeners.set(token, listener);
    return { token, stop: () => void this.#listeners.delete(token) };
  }

  #take(message: JSONRPCMessage): void {
    if (!('method' in message) || message.method !== 'notifications/progress') return;
    const { data } = notification.safeParse(message);
    if (data !== undefined) this.#listeners.get(data.params.progressToken)?.(lineOf(data.params));
  }
}

function lineOf({ progress, total, message }: Told): string {
  const share =
    total === undefined || !(total > 0) ? String(progress) : `${Math.round((progress / total) * 100)}%`;
  return message === undefined ? share : `${oneLine(message, MAX_LINE)} (${share})`;
}
