/** Formats the cost of a task and of its session for a person. Pure. */
import { hasTokens, tokensAndPrice, type TokenCost } from '../../../shared/text/cost-text.ts';

interface ReportedCost extends TokenCost {
  turns: number;
  /** The sum of all tasks of the session. */
  session?: TokenCost | undefined;
}

/** Returns a line with tokens and price; '' for an agent that counts no tokens. */
export function costLine(cost: ReportedCost): string {
  const { turns, session } = cost;
  return [
    hasTokens(cost)
      ? `Cost: ${turns === 1 ? '1 turn' : `${String(turns)} turns`}, ${tokensAndPrice(cost)}.`
      : '',
    session === undefined ? '' : `All tasks of the session: ${tokensAndPrice(session)}.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}
