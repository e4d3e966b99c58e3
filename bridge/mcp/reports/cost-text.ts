/** Writes the cost of a task and of its session for a person. Pure. */
import { hasTokens, tokensAndPrice, type TokenCost } from '../../../shared/text/cost-text.ts';

interface ReportedCost extends TokenCost {
  turns: number;
  /** All tasks of the session. */
  session?: TokenCost | undefined;
}

/** Returns '' for an agent that counts no tokens. */
export function costLine(cost: ReportedCost): string {
  const { turns, session } = cost;
  return [
    hasTokens(cost) ? `Cost: ${String(turns)} turns, ${tokensAndPrice(cost)}.` : '',
    session === undefined ? '' : `All tasks of the session: ${tokensAndPrice(session)}.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}
