/** Formats an agent's costs as tables by day, by session and by model, and a task's costs by turn. Pure. */
import type { CostReport, CostSumView, TaskCosts } from '../../../shared/protocol/cost-report.ts';
import { priceAdvice } from '../../../shared/protocol/price-advice.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { costRequestLabel, dollarsText, requestPriceText } from '../../../shared/text/cost-text.ts';
import { taskTitleOf } from '../../sessions/task-title.ts';
import { shortIds } from './short-ids.ts';
import { formatTable, type TableColumn } from './table.ts';

/** The maximum number of sessions in the table. `--json` prints more sessions. */
const MAX_SESSIONS = 20;

/** The columns of the tokens and the cost of one request or of a sum. */
const TOKENS_AND_COST: readonly TableColumn[] = [
  { title: 'TOKENS IN', align: 'right' },
  { title: 'CACHE READ', align: 'right' },
  { title: 'CACHE WRITTEN', align: 'right' },
  { title: 'TOKENS OUT', align: 'right' },
  { title: 'COST', align: 'right' },
];
const SUMS: readonly TableColumn[] = [{ title: 'REQUESTS', align: 'right' }, ...TOKENS_AND_COST];

export function costReportTables(report: CostReport, width: number | undefined): string {
  const { from, to, total, days, sessions, moreSessions, models } = report;
  const budget = report.dailyBudget === undefined ? [] : [budgetText(report.dailyBudget)];
  if (total.requests === 0)
    return [`No requests to a model from ${from} to ${to} (UTC days).`, ...budget].join('\n');
  const shown = sessions.slice(0, MAX_SESSIONS);
  const short = shortIds(sessions.flatMap(({ sessionId }) => sessionId ?? []));
  const more = moreSessions + sessions.length - shown.length;
  return [
    `From ${from} to ${to} (UTC days):`,
    formatTable(
      [{ title: 'DAY' }, ...SUMS],
      [
        ...days.map((each) => [{ text: each.day }, ...costCells(each)]),
        [{ text: 'total' }, ...costCells(total)],
      ],
      width,
    ),
    formatTable(
      [{ title: 'SESSION' }, { title: 'LAST DAY' }, ...SUMS, { title: 'TASK' }],
      shown.map(({ sessionId, title, lastDay, ...sums }) => [
        { text: sessionId === null ? '(deleted sessions)' : visibleLine(short.get(sessionId) ?? sessionId) },
        { text: lastDay },
        ...costCells(sums),
        { text: visibleLine(taskTitleOf(title)) },
      ]),
      width,
    ),
    ...(more === 0 ? [] : [`… and ${String(more)} more sessions`]),
    formatTable(
      [{ title: 'MODEL' }, ...SUMS],
      models.map(({ model, ...sums }) => [{ text: visibleLine(model) }, ...costCells(sums)]),
      width,
    ),
    ...budget,
    ...models.filter(({ unpricedRequests }) => unpricedRequests > 0).map(unknownPrice),
  ].join('\n\n');
}

function costCells(sums: CostSumView): { text: string }[] {
  const { requests, inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = sums;
  const counts = [requests, inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens];
  return [...counts.map((each) => ({ text: String(each) })), { text: priceText(sums) }];
}

function priceText({ usd, knownUsd, inputTokens, outputTokens }: CostSumView): string {
  if (inputTokens + outputTokens === 0) return '-';
  if (usd !== null) return dollarsText(usd);
  return knownUsd === 0 ? 'unknown' : `${dollarsText(knownUsd)} + unknown`;
}

function unknownPrice({ model, unpricedRequests }: CostReport['models'][number]): string {
  const count = unpricedRequests === 1 ? '1 request' : `${String(unpricedRequests)} requests`;
  return `The price of ${count} to ${visibleLine(model)} is unknown. ${visibleLine(priceAdvice(model))} It applies to later requests.`;
}

function budgetText({ usd, limitUsd, spentUsd }: NonNullable<CostReport['dailyBudget']>): string {
  const more =
    limitUsd > usd ? `, and a person allowed more: the limit of today is ${dollarsText(limitUsd)}` : '';
  return `The budget per day is ${dollarsText(usd)}${more}. Today cost ${dollarsText(spentUsd)}.`;
}

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
