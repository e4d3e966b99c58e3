/** WebAuthn challenges that wait for their answer. Each works once, for one principal, for a few minutes. */
import type { Clock } from '../../shared/runtime/clock.ts';

export const CHALLENGE_MS = 5 * 60_000;

/** A further challenge of the same principal ends the oldest one. */
const MAX_PER_PRINCIPAL = 50;

interface OpenChallenge<Purpose> {
  principal: string;
  purpose: Purpose;
  /** In milliseconds since 1970. */
  expiresAt: number;
}

/** Kept in memory. After a restart of the server, the page asks for a new challenge. */
export class OpenChallenges<Purpose> {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #open = new Map<string, OpenChallenge<Purpose>>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  add(challenge: string, principal: string, purpose: Purpose): void {
    const now = this.#clock.now();
    for (const [each, { expiresAt }] of this.#open) if (expiresAt <= now) this.#open.delete(each);
    const own = [...this.#open].filter(([, open]) => open.principal === principal);
    const [oldest] = own;
    if (own.length >= MAX_PER_PRINCIPAL && oldest) this.#open.delete(oldest[0]);
    this.#open.set(challenge, { principal, purpose, expiresAt: now + CHALLENGE_MS });
  }

  /** Uses up the challenge. Returns undefined if it is unknown, used, expired, or of another principal. */
  take(challenge: string, principal: string): Purpose | undefined {
    const open = this.#open.get(challenge);
    if (open?.principal !== principal) return undefined;
    this.#open.delete(challenge);
    return open.expiresAt > this.#clock.now() ? open.purpose : undefined;
  }
}
