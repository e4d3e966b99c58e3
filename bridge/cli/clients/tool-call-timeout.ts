/** Warns if an MCP client's time limit for tool calls is too short for a person's answer. Pure. */
import { FORM_TIMEOUT_MS } from '../../approvals/form-timeout.ts';

/** The time limit that `install` writes, in seconds. It is longer than `FORM_TIMEOUT_MS`. */
export const TOOL_CALL_TIMEOUT_SECONDS = 900;

/**
 * Returns a warning if the client's time limit ends a tool call before the person has had time to answer.
 * @param timeoutMs the client's time limit in milliseconds. A value of another type is ignored, because the client checks
 * it.
 */
export function shortTimeoutWarnings(key: string, timeoutMs: unknown): readonly string[] {
  if (typeof timeoutMs !== 'number' || timeoutMs > FORM_TIMEOUT_MS) return [];
  return [
    `each call ends after ${String(timeoutMs / 1000)} s ("${key}"), but it may wait ${String(FORM_TIMEOUT_MS / 60_000)} minutes for your answer`,
  ];
}
