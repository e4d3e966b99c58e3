/** Defines the shared types of all MCP transports. */
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { ChildEntry } from '../../processes/child-processes.ts';

/** The maximum size of a message in bytes. A larger line, event or response ends its connection or its call (X3). */
export const MAX_MESSAGE = 16 * 1024 * 1024;

/** The server certainly has not received the message. The connection has ended or is ending. */
export class MessageNotDelivered extends Error {
  override readonly name: string = 'MessageNotDelivered';
}

/** The server has refused the message, because it does not know the session any more. */
export class MessageRefused extends MessageNotDelivered {
  override readonly name = 'MessageRefused';
}

/** The program of the server could not start. Another attempt with the same settings fails too. */
export class ProgramNotStarted extends Error {
  override readonly name = 'ProgramNotStarted';
}

export interface ServerTransport extends Transport {
  /** The reason why the transport ended or is silent, as a sentence without subject and full stop. */
  readonly trouble: string | undefined;
  /** Called with each message before the transport sends it. */
  onsend?: (message: JSONRPCMessage) => void;
  /**
   * During `onmessage`, and in the work that it starts: the id of the request whose response stream contains the
   * message. Undefined for a transport with one channel, and for a stream without a request.
   */
  readonly about?: RequestId | undefined;
  /** After the cancellation of a request, keeps its response stream open for `ms` milliseconds, for a late answer. */
  keepOpen?(id: RequestId, ms: number): void;
}

export interface TransportContext {
  clock: Clock;
  /** A logger that adds the server's name to each line. */
  log: Logger;
  /** The time from a process's stop to SIGKILL, in milliseconds. */
  graceMs: number;
  /** The environment from which child processes get a part. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Records the process. */
  child: ChildEntry;
}
