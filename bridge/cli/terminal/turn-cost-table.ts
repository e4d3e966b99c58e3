import type { TaskCosts } from '../../../shared/protocol/cost-report.ts';
import { costRequestLabel, requestPriceText } from '../../../shared/text/cost-text.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { TOKENS_AND_COST } from './cost-tables.ts';
import { formatTable } from './table.ts';

export function turnCostTable({ requests }: TaskCosts, width: number | undefined): string {
  if (requests.length === 0) return 'The turns of this task have no tokens.';
  return formatTable(
    [{ title: 'TURN' }, ...TOKENS_AND_COST, { title: 'MODEL' }],
    requests.map((request) => [
      { text: costRequestLabel(request) },
      { text: String(request.inputTokens) },
      { text: String(request.cachedInputTokens) },
      { text: String(request.cacheWriteTokens) },
      { text: String(request.outputTokens) },
      { text: requestPriceText(request) },
      { text: visibleLine(request.model) },
    ]),
    width,
  );
}
