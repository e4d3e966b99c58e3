/** Formats the cost of a task and of its session as text for a person. Pure. */
import { hasTokens, tokensAndPriceText, type TokensAndPrice } from '../../../shared/text/cost-text.ts';
import { countWithNoun } from '../../../shared/text/one-line.ts';
import { joinTexts } from '../../../shared/text/join-texts.ts';

interface ReportedCost extends TokensAndPrice {
  turns: number;
  session?: TokensAndPrice | undefined;
}

/** Returns one line with the tokens and the price. Returns '' for an agent that does not report tokens. */
export function costLine(cost: ReportedCost): string {
  const { turns, session } = cost;
  return joinTexts(' ', [
    hasTokens(cost) ? `Cost: ${countWithNoun(turns, 'turn')}, ${tokensAndPriceText(cost)}.` : '',
    session === undefined ? '' : `All tasks of the session: ${tokensAndPriceText(session)}.`,
  ]);
}
