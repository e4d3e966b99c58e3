/**
 * Decides how to connect to an MCP server: the transport, and the handshake of its revision. Pure.
 *
 * - `probe` sends `server/discover` of 2026-07-28. If the server refuses it, the client sends `initialize`.
 * - `initialize` sends only the handshake of the older revisions. Some servers fail when they get the probe.
 */
import { SdkError, SdkHttpError, UnsupportedProtocolVersionError } from '@modelcontextprotocol/client';
import { isRemoteServer, type McpServerConfig } from './server-settings.ts';
import { fieldOf } from '../../shared/runtime/record.ts';
import { MessageNotDeliveredError, ProgramNotStartedError } from './transports/server-transport.ts';

export interface ConnectAttempt {
  transport: 'stdio' | 'http' | 'sse';
  handshake: 'probe' | 'initialize';
}

interface ConnectFailure {
  status?: number;
  /** `final` means that no other transport or handshake helps. */
  kind: 'status' | 'final' | 'other';
  cause?: unknown;
}

export function firstConnectAttempt(entry: McpServerConfig): ConnectAttempt {
  if (!isRemoteServer(entry)) return { transport: 'stdio', handshake: 'probe' };
  return entry.type === 'sse'
    ? { transport: 'sse', handshake: 'initialize' }
    : { transport: 'http', handshake: 'probe' };
}

/** Returns the next attempt after a failure. Returns undefined if no other attempt can help. */
export function nextConnectAttempt(
  { transport, handshake }: ConnectAttempt,
  failure: ConnectFailure,
): ConnectAttempt | undefined {
  if (failure.kind === 'final' || transport === 'sse') return undefined;
  const { status } = failure;
  // MCP 2025-11-25, Transports, Backwards Compatibility: "400 Bad Request", "404 Not Found" or "405 Method Not
  // Allowed".
  if (transport === 'http' && (status === 400 || status === 404 || status === 405))
    return { transport: 'sse', handshake: 'initialize' };
  if (handshake === 'initialize') return undefined;
  // A server of an older revision may fail, exit or send nothing after an unknown request. So the next attempt sends
  // only `initialize`.
  return { transport, handshake: 'initialize' };
}

export function classifyConnectError(error: unknown): ConnectFailure {
  const cause = error instanceof SdkError ? fieldOf(error.data, 'cause') : undefined;
  const inner = cause ?? error;
  const more = cause !== undefined && { cause };
  if (inner instanceof SdkHttpError) {
    const { status } = inner;
    return { kind: status === 401 || status === 403 ? 'final' : 'status', status, ...more };
  }
  const final =
    inner instanceof UnsupportedProtocolVersionError ||
    inner instanceof MessageNotDeliveredError ||
    inner instanceof ProgramNotStartedError;
  return { kind: final ? 'final' : 'other', ...more };
}
