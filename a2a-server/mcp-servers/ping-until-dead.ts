/** Detects a connection that is open but dead, e.g. after the host has vanished or the program hangs. */
import type { Clock } from '../../shared/runtime/clock.ts';
import { delay } from '../runtime/timeout.ts';
import type { McpServerConnection } from './connection.ts';

interface KeepAliveOptions {
  clock: Clock;
  /** The time without a server message after which the client sends a ping. Null means no pings. */
  pingMs: number | null;
  answerMs: number;
  signal: AbortSignal;
  /** Called with a problem if a busy server does not answer pings. Called with null when it answers again. */
  onSilent: (problem: string | null) => void;
}

/**
 * Sends pings until the signal aborts (MCP 2025-11-25, Ping; `server/discover` in 2026-07-28). Returns the problem of a
 * dead connection, as a sentence without subject and full stop. Returns undefined after the abort.
 *
 * A connection is dead if the server does not answer a ping and runs no tool call. A server with one thread cannot
 * answer while a call runs. Each call has its own time limit. A stopped call counts as running for a while, because MCP
 * does not report when the server ends it.
 */
export async function pingUntilDead(
  connection: Pick<McpServerConnection, 'ping' | 'received' | 'busy'>,
  { clock, pingMs, answerMs, signal, onSilent }: KeepAliveOptions,
): Promise<string | undefined> {
  if (pingMs === null) return undefined;
  for (let silent = false; ;) {
    const before = connection.received;
    await delay(clock, pingMs, signal).catch(() => undefined);
    if (signal.aborted) return undefined;
    if (connection.received > before && !silent) continue;
    const answered = await connection.ping(answerMs, signal);
    if (signal.aborted) return undefined;
    const problem = `did not answer a ping within ${answerMs / 1000} s`;
    if (!answered && !connection.busy) return problem;
    if (answered === silent) onSilent(answered ? null : `it ${problem} while it works on a call`);
    silent = !answered;
  }
}
