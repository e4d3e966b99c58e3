/**
 * Decides how to connect to an MCP server: the transport, and the handshake of its revision. Pure.
 *
 * `probe`: asks with `server/discover` for 2026-07-28, and falls back to `initialize` when the answer is no. `initialize`: the
 * handshake of the older revisions alone, for a server that does not survive the question.
 */
import { SdkError, SdkHttpError, UnsupportedProtocolVersionError } from '@modelcontextprotocol/client';
import { isRemoteServer, type McpServerEntry } from './server-settings.ts';
import { MessageNotDelivered } from './transports/server-transport.ts';

export interface Attempt {
  transport: 'stdio' | 'http' | 'sse';
  handshake: 'probe' | 'initialize';
}

/** Why an attempt failed. */
export interface Failure {
  /** The HTTP status of the server's answer. */
  status?: number;
  /** `final`: no other transport or handshake helps. */
  kind: 'status' | 'final' | 'other';
  /** The error below the SDK's own. */
  cause?: unknown;
}

export function firstAttempt(entry: McpServerEntry): Attempt {
  if (!isRemoteServer(entry)) return { transport: 'stdio', handshake: 'probe' };
  return entry.type === 'sse'
    ? { transport: 'sse', handshake: 'initialize' }
    : { transport: 'http', handshake: 'probe' };
}

/** @returns undefined if the failure is final */
export function nextAttempt({ transport, handshake }: Attempt, failure: Failure): Attempt | undefined {
  if (failure.kind === 'final' || transport === 'sse') return undefined;
  const { status } = failure;
  // MCP 2025-11-25, Transports, Backwards Compatibility: "400 Bad Request", "404 Not Found" or "405 Method Not Allowed".
  if (transport === 'http' && (status === 400 || status === 404 || status === 405))
    return { transport: 'sse', handshake: 'initialize' };
  if (handshake === 'initialize') return undefined;
  // Also a server that fails, exits or stays silent when it gets an unknown request may speak an older revision.
  return { transport, handshake: 'initialize' };
}

/** Classifies the error of a connection attempt. */
export function failureOf(error: unknown): Failure {
  const cause = error instanceof SdkError ? causeIn(error.data) : undefined;
  const inner = cause ?? error;
  const more = cause !== undefined && { cause };
  if (inner instanceof SdkHttpError) {
    const { status } = inner;
    return { kind: status === 401 || status === 403 ? 'final' : 'status', status, ...more };
  }
  const final =
    inner instanceof UnsupportedProtocolVersionError ||
    // The request did not connect, or the program did not start.
    inner instanceof MessageNotDelivered ||
    isStartFailure(inner);
  return { kind: final ? 'final' : 'other', ...more };
}

function causeIn(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'cause' in data ? data.cause : undefined;
}

function isStartFailure(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('could not start');
}
