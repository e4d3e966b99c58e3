/** Warns if an MCP client's time limit for tool calls is too short for a person's answer. Pure. */

/**
 * The maximum time in milliseconds for which a tool call waits for a person's answer to a form (`FORM_TIMEOUT_MS` of
 * the bridge).
 */
const MAX_WAIT_MS = 10 * 60_000;
/** The time limit that `install` writes, in seconds. It is longer than `MAX_WAIT_MS`. */
export const CALL_LIMIT_SECONDS = 900;

/**
 * Returns a warning if the client's time limit ends a tool call before the person has had time to answer.
 * @param limitMs the client's time limit in milliseconds. A value of another type is ignored, because the client checks
 * it.
 */
export function shortCallLimitWarnings(key: string, limitMs: unknown): readonly string[] {
  if (typeof limitMs !== 'number' || limitMs > MAX_WAIT_MS) return [];
  return [
    `each call ends after ${String(limitMs / 1000)} s ("${key}"), but it may wait ten minutes for your answer`,
  ];
}
