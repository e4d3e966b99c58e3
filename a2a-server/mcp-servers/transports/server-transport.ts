import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import type { ChildProcessTracker } from '../../processes/child-process-records.ts';

/**
 * The maximum length of a line, an event or a response, in bytes. X3: anything longer ends its connection or its tool
 * call, and not this process.
 */
export const MAX_MCP_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Thrown if the server certainly has not received the message. The connection has ended or is ending. */
export class MessageNotDeliveredError extends Error {
  override readonly name: string = 'MessageNotDeliveredError';
}

/** Thrown if the server refuses the message because it no longer has the MCP session, or no MCP endpoint at its URL. */
export class McpSessionLostError extends MessageNotDeliveredError {
  override readonly name = 'McpSessionLostError';
}

/** Thrown if the server has accepted a tool call, but its answer was cut off or is not JSON-RPC. */
export class UnreadableMcpAnswerError extends Error {
  override readonly name = 'UnreadableMcpAnswerError';
}

/** Thrown if the server's program cannot start. Another attempt with the same settings fails too. */
export class ProgramNotStartedError extends Error {
  override readonly name = 'ProgramNotStartedError';
}

export interface McpTransport extends Transport {
  /** The reason why the transport ended or is silent, as a sentence without subject and full stop. */
  readonly trouble: string | undefined;
  onsend?: (message: JSONRPCMessage) => void;
  /**
   * The id of the request whose response stream contains the current message. Valid during `onmessage` and in its async
   * work. Undefined for a transport with one channel, and for a stream without a request.
   */
  readonly about?: RequestId | undefined;
  /** Keeps the response stream of a cancelled request open for `ms` milliseconds, for a late answer. */
  keepOpen?(id: RequestId, ms: number): void;
}

export interface McpTransportContext {
  clock: Clock;
  /** The log. It adds the server's name to each line. */
  log: Logger;
  /** The time between SIGTERM and SIGKILL at the end of a process. */
  graceMs: number;
  /** The environment of this process. A child process gets only a part of it. */
  environment: Environment;
  /** Records the process. After a crash of `a2a-server`, its next start can end the process. */
  child: ChildProcessTracker;
}
