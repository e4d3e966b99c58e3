/** A client of A2A 1.0 that sends all requests over one connection and reads each answer to its end. */
import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { once } from 'node:events';
import {
  LAST_EVENT_ID_HEADER,
  RESUMABLE_STREAM_EXTENSION,
} from '../../shared/protocol/resumable-stream-extension.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../shared/protocol/tool-approval.ts';
import { decisionOn, decisionsPart, writtenMessage, type MessageFields } from '../support/a2a-message.ts';
import { resultOf, rpcBody } from '../support/rpc-answer.ts';
import { sseFrames } from '../support/sse-frame.ts';
import { readEvent, type StreamEvent } from '../support/wire-event.ts';
import { OneSocket } from './one-socket.ts';

export class A2aConversation {
  /** The number of messages whose whole answer was read. */
  turns = 0;
  readonly #url: string;
  readonly #socket: OneSocket;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, token }: { url: string; token: string }) {
    this.#url = url;
    this.#socket = new OneSocket(url);
    this.#headers = {
      Authorization: `Bearer ${token}`,
      'A2A-Version': '1.0',
      'A2A-Extensions': `${TOOL_APPROVAL_EXTENSION},${RESUMABLE_STREAM_EXTENSION}`,
      'Content-Type': 'application/json',
    };
  }

  /** Sends a message. @returns the last event of its stream, after which the task waits or has ended */
  async say(parts: string | readonly unknown[], addressed: MessageFields = {}): Promise<StreamEvent> {
    const body = rpcBody('SendStreamingMessage', { message: writtenMessage(parts, addressed) });
    const answer = await this.#socket.ask({ method: 'POST', path: '/', headers: this.#headers, body });
    let last: StreamEvent | undefined;
    for await (const { data } of sseFrames(answer)) last = readEvent(resultOf(JSON.parse(data)), data);
    if (last === undefined) throw new Error('the stream was empty');
    this.turns += 1;
    return last;
  }

  /** Decides the only pending call. */
  decide({ taskId, pending }: StreamEvent, decision: 'approve' | 'deny'): Promise<StreamEvent> {
    return this.say([decisionsPart([decisionOn(pending, decision)])], { taskId });
  }

  async call(method: string, params: object): Promise<unknown> {
    const body = rpcBody(method, params);
    return resultOf(
      await json(await this.#socket.ask({ method: 'POST', path: '/', headers: this.#headers, body })),
    );
  }

  /** Reads an ended task from its first event. @returns the number of its events */
  async replay(taskId: string): Promise<number> {
    const headers = { ...this.#headers, [LAST_EVENT_ID_HEADER]: '0' };
    const path = `/tasks/${taskId}:subscribe`;
    let count = 0;
    for await (const _ of sseFrames(await this.#socket.ask({ method: 'GET', path, headers }))) count += 1;
    return count;
  }

  /** Follows a task over a new connection, and resets that connection at the first event. */
  async followBriefly(taskId: string): Promise<void> {
    const outgoing = request(new URL(`/tasks/${taskId}:subscribe`, this.#url), {
      agent: false,
      headers: this.#headers,
    });
    outgoing.end();
    const [answer]: IncomingMessage[] = await once(outgoing, 'response');
    if (answer === undefined) throw new Error('there was no answer');
    await once(answer, 'data');
    answer.on('error', () => undefined);
    answer.socket.resetAndDestroy();
  }

  close(): void {
    this.#socket.close();
  }
}
