/**
 * Stores the WebAuthn challenges that wait for their answer. Each challenge works once, for one principal, for a few
 * minutes.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { RecordStore } from '../records/record-store.ts';

export const CHALLENGE_MS = 5 * 60_000;

/** The maximum number of open challenges of one principal. A further challenge ends the oldest one. */
const MAX_PER_PRINCIPAL = 50;

const openChallengeSchema = z.strictObject({
  principal: z.string(),
  purpose: z.unknown(),
  /** The end of the challenge's validity, in milliseconds since 1970. */
  expiresAt: z.number(),
});
type OpenChallenge = z.infer<typeof openChallengeSchema>;

/** Stores the open challenges as records, because the answer may reach another server that shares these records. */
export class ChallengeStore<Purpose> {
  readonly #records: RecordStore;
  readonly #schema: z.ZodType<Purpose>;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(records: RecordStore, schema: z.ZodType<Purpose>, clock: Pick<Clock, 'now'>) {
    this.#records = records;
    this.#schema = schema;
    this.#clock = clock;
  }

  /** @throws ProductError STORAGE */
  async add(challenge: string, principal: string, purpose: Purpose): Promise<void> {
    const expiresAt = this.#clock.now() + CHALLENGE_MS;
    await this.#records.replace(
      'challenges',
      nameOf(challenge),
      JSON.stringify({ principal, purpose, expiresAt } satisfies OpenChallenge),
    );
    await this.#removeOld(principal);
  }

  /**
   * Uses up the challenge. Returns undefined if it is unknown, used, expired, or of another principal or purpose.
   * @throws ProductError STORAGE
   */
  async take(challenge: string, principal: string): Promise<Purpose | undefined> {
    const name = nameOf(challenge);
    const text = await this.#records.read('challenges', name);
    const open = text === undefined ? undefined : parsed(text);
    if (open?.principal !== principal || !(await this.#records.remove('challenges', name))) return undefined;
    return open.expiresAt > this.#clock.now() ? this.#schema.safeParse(open.purpose).data : undefined;
  }

  async #removeOld(principal: string): Promise<void> {
    const all = [...(await this.#records.list('challenges'))].map(([name, text]) => ({
      name,
      open: parsed(text),
    }));
    const expired = all.filter(({ open }) => open === undefined || open.expiresAt <= this.#clock.now());
    const tooMany = all
      .filter((each) => each.open?.principal === principal && !expired.includes(each))
      .toSorted((one, other) => (other.open?.expiresAt ?? 0) - (one.open?.expiresAt ?? 0))
      .slice(MAX_PER_PRINCIPAL);
    await Promise.all([...expired, ...tooMany].map(({ name }) => this.#records.remove('challenges', name)));
  }
}

function parsed(text: string): OpenChallenge | undefined {
  try {
    return openChallengeSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function nameOf(challenge: string): string {
  return createHash('sha256').update(challenge).digest('hex');
}
