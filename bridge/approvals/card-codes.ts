/**
 * The codes of the approval card (an MCP Apps page in the chat). Each code permits one decision on one action, for ten
 * minutes. The bridge gives a code only to the card that shows the complete action. A code does not prove that a person
 * decided, because the MCP client can press the card's buttons itself.
 */
import { randomBytes } from 'node:crypto';
import { setBounded } from '../../shared/runtime/set-bounded.ts';
import { ProductError } from '../../shared/runtime/errors.ts';

interface ApprovalCardAction {
  /** The name of the agent. Agents choose the task ids and call ids, so two agents may use the same id. */
  agent: string;
  taskId: string;
  callId: string;
  /** The code of what the card shows. D2: a decision is valid only for what the person saw. */
  shown: string;
}

const LIFETIME_MS = 10 * 60_000;
const MAX_CODES = 1_000;

export class ApprovalCardCodes {
  readonly #actions = new Map<string, ApprovalCardAction & { until: number }>();
  readonly #now: () => number;

  /** @param now returns the time of the wall clock in milliseconds since 1970 */
  constructor(now: () => number = () => Date.now()) {
    this.#now = now;
  }

  issue(action: ApprovalCardAction): string {
    const code = randomBytes(16).toString('base64url');
    setBounded(this.#actions, code, { ...action, until: this.#now() + LIFETIME_MS }, MAX_CODES);
    return code;
  }

  /**
   * Accepts a code once.
   * @throws ProductError INVALID_DECISION if the code is unknown, used, expired, or issued for another action
   */
  use(code: string, { agent, taskId, callId, shown }: ApprovalCardAction): void {
    const issued = this.#actions.get(code);
    this.#actions.delete(code);
    if (issued === undefined || issued.until <= this.#now())
      throw refusedCodeError('This code was used before, or has expired.');
    if (
      issued.agent !== agent ||
      issued.taskId !== taskId ||
      issued.callId !== callId ||
      issued.shown !== shown
    )
      throw refusedCodeError('This code belongs to another action.');
  }
}

function refusedCodeError(why: string): ProductError {
  return new ProductError(
    'INVALID_DECISION',
    `${why} Nothing was decided. The approval card loads the action again.`,
  );
}
