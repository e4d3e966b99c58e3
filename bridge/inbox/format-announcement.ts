/** Chooses the uncollected results that a reply announces, and formats the announcement. Pure. */
import { visibleLine } from '../../shared/text/visible-text.ts';
import type { WaitingResult } from '../state/waiting-results.ts';
import type { NameOfTool } from '../tool-names/tool-names.ts';
import { joinTexts } from '../../shared/text/join-texts.ts';

/** The results that one reply to an MCP client announces. */
export interface AnnouncedResults {
  results: readonly WaitingResult[];
  /** The number of further results that are not announced now. */
  more: number;
}

/** The maximum number of results in one announcement. */
const MAX_RESULTS = 10;

/** Returns the newest results, oldest first, and the number of the others. */
export function announcedResultsOf(results: readonly WaitingResult[]): AnnouncedResults {
  const told = results.slice(-MAX_RESULTS);
  return { results: told, more: results.length - told.length };
}

/** Returns the text before the reply of a tool. Returns '' if there is nothing to announce. */
export function announcedResultsText({ results, more }: AnnouncedResults, name: NameOfTool): string {
  if (results.length === 0) return '';
  return joinTexts('\n', [
    `Results that nobody has read yet (listed once; read each with ${name('wait_for_task')}):`,
    ...results.map(
      ({ sessionId, agent, state, title }) =>
        `- session ${visibleLine(sessionId)} (${agent}): ${state}${title === '' ? '' : ` — ${visibleLine(title)}`}`,
    ),
    more === 0 ? '' : `… and ${String(more)} more: ${name('list_all_active_sessions')} has them.`,
  ]);
}
