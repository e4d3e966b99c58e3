/** The time limit of a tool call in an MCP client. Pure. */

/** How long a tool call may wait for a person to answer a form (`ANSWER_MS` of the bridge). */
const LONGEST_WAIT_MS = 10 * 60_000;
/** The time limit that `install` writes, in seconds. It is longer than `LONGEST_WAIT_MS`. */
export const CALL_LIMIT_SECONDS = 900;

/**
 * Returns a hazard if the client ends a tool call before the person has to answer.
 * @param limitMs in milliseconds; a value of another type is left to the client
 */
export function shortCallLimit(key: string, limitMs: unknown): readonly string[] {
  if (typeof limitMs !== 'number' || limitMs > LONGEST_WAIT_MS) return [];
  return [
    `each call ends after ${String(limitMs / 1000)} s ("${key}"), but it may wait ten minutes for your answer`,
  ];
}
