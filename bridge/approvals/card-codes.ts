/**
 * The codes of the approval card. Each code permits one decision on one action, for ten minutes. The bridge gives a code
 * only with the complete action, to the card that shows it. A code is not a proof of a person: an MCP host can press the
 * card's buttons itself.
 */
import { randomBytes } from 'node:crypto';
import { ProductError } from '../../shared/runtime/errors.ts';

export interface CardAction {
  taskId: string;
  callId: string;
  /** The code of the action that the card shows (D2). */
  shown: string;
}

/** In milliseconds. */
const LIFE_MS = 10 * 60_000;
const KEPT = 1_000;

export class CardCodes {
  readonly #actions = new Map<string, CardAction & { until: number }>();
  readonly #now: () => number;

  /** @param now the wall clock, in milliseconds since 1970 */
  constructor(now: () => number = () => Date.now()) {
    this.#now = now;
  }

  issue({ taskId, callId, shown }: CardAction): string {
    const code = randomBytes(16).toString('base64url');
    this.#actions.set(code, { taskId, callId, shown, until: this.#now() + LIFE_MS });
    const [oldest] = this.#actions.keys();
    if (this.#actions.size > KEPT && oldest !== undefined) this.#actions.delete(oldest);
    return code;
  }

  /**
   * Uses up a code. @throws ProductError INVALID_DECISION if the code is unknown, used, expired, or of another action
   */
  use(code: string, { taskId, callId, shown }: CardAction): void {
    const issued = this.#actions.get(code);
    this.#actions.delete(code);
    if (issued === undefined || issued.until <= this.#now())
      throw refused('This code was used before, or has expired.');
    if (issued.taskId !== taskId || issued.callId !== callId || issued.shown !== shown)
      throw refused('This code belongs to another action.');
  }
}

function refused(why: string): ProductError {
  return new ProductError(
    'INVALID_DECISION',
    `${why} Nothing was decided. The approval card loads the action again.`,
  );
}
