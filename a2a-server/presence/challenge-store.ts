/**
 * Stores the WebAuthn challenges that wait for their answer. Each challenge works once, for one principal, for a few
 * minutes.
 */
import { z } from 'zod';
import type { Clock } from '../../shared/runtime/clock.ts';
import { sha256 } from '../../shared/runtime/sha256.ts';
import { createExpiringRecords, type ExpiringRecords } from '../records/expiring-records.ts';
import type { RecordStore } from '../records/record-store.ts';

export const CHALLENGE_MS = 5 * 60_000;

/** The maximum number of open challenges of one principal. */
const MAX_PER_PRINCIPAL = 50;

const openChallengeSchema = z.strictObject({
  principal: z.string(),
  purpose: z.unknown(),
  /** The end of the challenge's validity, in milliseconds since 1970. */
  expiresAt: z.number(),
});

/** Stores the open challenges as records, because the answer may reach another server that shares these records. */
export class ChallengeStore<Purpose> {
  readonly #open: ExpiringRecords<z.infer<typeof openChallengeSchema>>;
  readonly #schema: z.ZodType<Purpose>;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(records: RecordStore, schema: z.ZodType<Purpose>, clock: Pick<Clock, 'now'>) {
    this.#open = createExpiringRecords(records, 'challenges', {
      schema: openChallengeSchema,
      maxPerPrincipal: MAX_PER_PRINCIPAL,
      now: () => clock.now(),
    });
    this.#schema = schema;
    this.#clock = clock;
  }

  /** @throws ProductError STORAGE */
  async add(challenge: string, principal: string, purpose: Purpose): Promise<void> {
    const expiresAt = this.#clock.now() + CHALLENGE_MS;
    await this.#open.add(sha256(challenge), { principal, purpose, expiresAt });
  }

  /**
   * Uses up the challenge. Returns undefined if it is unknown, used, expired, or of another principal or purpose.
   * @throws ProductError STORAGE
   */
  async take(challenge: string, principal: string): Promise<Purpose | undefined> {
    const name = sha256(challenge);
    const open = await this.#open.read(name);
    if (open?.principal !== principal || !(await this.#open.remove(name))) return undefined;
    return open.expiresAt > this.#clock.now() ? this.#schema.safeParse(open.purpose).data : undefined;
  }
}
