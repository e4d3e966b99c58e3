import type { TaskCosts } from '../../../shared/protocol/cost-report.ts';
import { costRequestLabel, requestPriceText } from '../../../shared/text/cost-text.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { formatTable } from './table.ts';

export function turnCostTable({ requests }: TaskCosts, width: number | undefined): string {
  if (requests.length === 0) return 'The turns of this task have no tokens.';
  return formatTable(
    [
      { title: 'TURN' },
      { title: 'TOKENS IN', align: 'right' },
      { title: 'CACHE READ', align: 'right' },
      { title: 'CACHE WRITTEN', align: 'right' },
      { title: 'TOKENS OUT', align: 'right' },
      { title: 'COST', align: 'right' },
      { title: 'MODEL' },
    ],
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
