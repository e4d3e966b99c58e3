/** Checks an agent: its connection, its token and its clock. */
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { Agent } from '../../agents/agent.ts';
import { fail, type CheckResult, ok, warn } from './finding.ts';

const TIMEOUT_MS = 10_000;
/** The `Date` header has whole seconds, and the answer takes time to arrive. In milliseconds. */
const SKEW_MS = 30_000;

export async function checkAgent(agent: Agent): Promise<readonly CheckResult[]> {
  const subject = `agent ${agent.name}`;
  try {
    const { facts, dialect, url } = await agent.reconnect();
    const speaks = [
      ...new Set(facts.interfaces.map((each) => `A2A ${each.protocolVersion} ${each.binding}`)),
    ].join(', ');
    const card = ok(subject, `${facts.name} ${facts.version} at ${url}; ${speaks}; dialect ${dialect.name}`);
    return [await refusedToken(agent, subject), await checkClock(url, subject)].reduce<
      readonly CheckResult[]
    >((findings, each) => (each === undefined ? findings : [...findings, each]), [card]);
  } catch (error) {
    return [fail(subject, messageOf(error), nextFor(error))];
  }
}

/** The card is public: only another request tests the token. */
async function refusedToken(agent: Agent, subject: string): Promise<CheckResult | undefined> {
  try {
    await agent.ask((connection) => connection.list({}, 1));
  } catch (error) {
    const refused =
      error instanceof ProductError && (error.reason === 'UNAUTHENTICATED' || error.reason === 'FORBIDDEN');
    if (refused)
      return fail(
        subject,
        error.message,
        'Put the token right, and start the clients again: they hand it on.',
      );
    return warn(
      subject,
      `it has a card, but does not list its tasks: ${messageOf(error)}`,
      'Look at its log.',
    );
  }
  return undefined;
}

function nextFor(error: unknown): string {
  if (error instanceof ProductError && error.reason === 'CONFIGURATION') return 'Put the setting right.';
  return 'See that it runs, and that its address in the settings is right.';
}

/** Compares the clocks by the `Date` header of the answer (RFC 9110 §6.6.1). Sends no credentials. */
async function checkClock(url: string, subject: string): Promise<CheckResult | undefined> {
  try {
    const before = Date.now();
    const response = await fetch(url, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const skew = clockSkew(response.headers.get('date'), { before, after: Date.now() });
    if (skew === undefined || Math.abs(skew) < SKEW_MS) return undefined;
    return warn(
      subject,
      `its clock is ${String(Math.round(Math.abs(skew) / 1000))} s ${skew > 0 ? 'ahead of' : 'behind'} this one`,
      'Set both by a time server: until then ages and times of expiry are shown wrong.',
    );
  } catch {
    return undefined; // The earlier checks suffice: a server need not support HEAD.
  }
}

/**
 * The difference in milliseconds, positive if the agent's clock is ahead. The transmission time counts in the agent's
 * favour. Undefined without a date.
 */
export function clockSkew(date: string | null, asked: { before: number; after: number }): number | undefined {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return undefined;
  if (theirs > asked.after) return theirs - asked.after;
  // The header drops the fraction of its second.
  return theirs + 1000 < asked.before ? theirs + 1000 - asked.before : 0;
}
