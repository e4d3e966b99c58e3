/** The shared types of all MCP transports. */
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { ChildEntry } from '../../processes/child-processes.ts';

/** The maximum size in bytes. A longer line, event or response ends its connection or its call (X3). */
export const MAX_MESSAGE = 16 * 1024 * 1024;

/** The server certainly has not received the message. The connection has ended or is ending. */
export class MessageNotDelivered extends Error {
  override readonly name = 'NotDelivered';
}

export interface ServerTransport extends Transport {
  /** Why the transport ended or is silent, as a sentence without subject and full stop. */
  readonly trouble: string | undefined;
  /** Called with each message before the transport sends it. */
  onsend?: (message: JSONRPCMessage) => void;
  /**
   * During `onmessage`: the id of the request whose response stream carries the message. Undefined for a transport with one
   * channel, and for a stream without a request.
   */
  readonly about?: RequestId | undefined;
  /** Keeps the response stream of a request open after its cancellation, at most this long, for a late answer. */
  keepOpen?(id: RequestId, ms: number): void;
}

export interface TransportContext {
  clock: Clock;
  /** The log names the server. */
  log: Logger;
  /** Time for a stopped process to end before it is killed, in milliseconds. */
  graceMs: number;
  /** The source environment for child processes, which get a part of it. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Records the process. */
  child: ChildEntry;
}
