/** Checks an agent: its card, its endpoint, its token and its clock. */
import { randomUUID } from 'node:crypto';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { Agent } from '../../agents/agent.ts';
import { withTimeout } from '../../agents/timeout.ts';
import { inTerminalWords } from '../terminal/terminal-words.ts';
import { type CheckResult, type CheckResults, checkResults } from '../../../shared/runtime/check-result.ts';

const TIMEOUT_MS = 10_000;
/**
 * The maximum normal difference between the two clocks, in milliseconds. The `Date` header contains only whole seconds,
 * and the response takes time to arrive.
 */
const MAX_SKEW_MS = 30_000;

/**
 * Checks an agent. Returns one result for the card, and one for each problem with the endpoint or the clock.
 * @param timeoutMs the time limit for the endpoint, in milliseconds
 */
export async function checkAgent(
  agent: Agent,
  { timeoutMs = TIMEOUT_MS }: { timeoutMs?: number } = {},
): Promise<readonly CheckResult[]> {
  const results = checkResults(`agent ${agent.name}`);
  try {
    const { facts, dialect, url } = await agent.reconnect();
    const speaks = [
      ...new Set(facts.interfaces.map((each) => `A2A ${each.protocolVersion} ${each.binding}`)),
    ].join(', ');
    const card = results.ok(`${facts.name} ${facts.version} at ${url}; ${speaks}; dialect ${dialect.name}`);
    const found = await Promise.all([
      endpointProblem(agent, results, timeoutMs),
      checkClock(url, results, timeoutMs),
    ]);
    return [card, ...found.filter((each) => each !== undefined)];
  } catch (error) {
    return [results.fail(inTerminalWords(errorMessageOf(error)), nextFor(error))];
  }
}

/**
 * Returns why the agent's endpoint cannot be used. To find out, calls GetTask for a task that does not exist: every A2A
 * agent has this method, and the request changes nothing. The card alone proves little, because it is public and may be
 * at another URL than the endpoint.
 */
async function endpointProblem(
  agent: Agent,
  results: CheckResults,
  timeoutMs: number,
): Promise<CheckResult | undefined> {
  try {
    const connection = await agent.connect();
    await withTimeout(timeoutMs, connection.task(randomUUID()));
    return undefined;
  } catch (thrown) {
    const error = agent.failed(thrown);
    const { reason } = error;
    if (reason === 'UNKNOWN_TASK') return undefined;
    if (reason === 'UNAUTHENTICATED' || reason === 'FORBIDDEN')
      return results.fail(
        error.message,
        'Correct the token, and restart the MCP clients: they pass it to the bridge.',
      );
    if (reason === 'AGENT_UNREACHABLE')
      return results.fail(
        `its card answers, but its endpoint does not: ${inTerminalWords(error.message)}`,
        'Check the address of the endpoint on its card, and that the agent runs there.',
      );
    return results.warn(
      `it answers a request for an unknown task in an unusual way: ${error.message}`,
      'Look at its log.',
    );
  }
}

function nextFor(error: unknown): string {
  if (error instanceof ProductError && error.reason === 'CONFIGURATION')
    return 'Correct what the line above names, and run doctor again.';
  return 'Check that it runs, and that its address in the settings is right.';
}

/** Compares the clocks by the `Date` header of a response (RFC 9110 §6.6.1). The request contains no credentials. */
async function checkClock(
  url: string,
  results: CheckResults,
  timeoutMs: number,
): Promise<CheckResult | undefined> {
  try {
    const before = Date.now();
    const response = await fetch(url, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const skew = clockSkew(response.headers.get('date'), { before, after: Date.now() });
    if (skew === undefined || Math.abs(skew) < MAX_SKEW_MS) return undefined;
    return results.warn(
      `its clock is ${String(Math.round(Math.abs(skew) / 1000))} s ${skew > 0 ? 'ahead of' : 'behind'} this one`,
      'Synchronize both clocks with a time server (NTP). Until then, ages and expiry times are shown wrong.',
    );
  } catch {
    return undefined; // Some servers do not support HEAD, so an error is not a problem.
  }
}

/**
 * Returns by how many milliseconds the agent's clock is ahead. The number is negative if the clock is behind. Returns 0
 * if the transmission time can explain the difference. Returns undefined without a date.
 */
export function clockSkew(date: string | null, asked: { before: number; after: number }): number | undefined {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return undefined;
  if (theirs > asked.after) return theirs - asked.after;
  // The header contains no fraction of a second, so the real time may be up to one second later.
  return theirs + 1000 < asked.before ? theirs + 1000 - asked.before : 0;
}
