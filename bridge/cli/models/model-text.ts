/** Formats the output of `model` and `model list`. Pure. */
import type { ModelReport, ModelUse, ReportedKeySource } from '../../../shared/runtime/model-report.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { Paint } from '../terminal/paint.ts';
import { formatTable } from '../terminal/table.ts';

/** Formats the models in use. If a model is used for several tiers, it is printed once. */
export function modelsInUseText({ uses, agent, agentType }: ModelReport, paint: Paint): string {
  const note =
    agentType === 'model'
      ? []
      : [`${visibleLine(agent)} runs the tasks, so no model is in use (setting "agent").`];
  const ids = [...new Set(uses.map(({ id }) => id))];
  return [
    ...note,
    ...ids.map((id) =>
      useText(
        uses.filter((each) => each.id === id),
        paint,
      ),
    ),
  ].join('\n');
}

function useText(same: readonly ModelUse[], paint: Paint): string {
  const [first] = same;
  if (first === undefined) return '';
  const { id, url } = first;
  const names = same.map(({ use }) => use).join(', ');
  const origins = [...new Set(same.map(({ origin }) => origin))];
  const facts =
    url === null && id === 'offline'
      ? ['a program that understands a few fixed sentences, not a language model (docs/offline-model.md)']
      : [
          `from:            ${origins.map((each) => visibleLine(each)).join(', ')}`,
          `URL:             ${url === null ? 'missing: set it with --base-url' : visibleLine(url)}`,
          `key:             ${keyText(first.key)}`,
          `context window:  ${windowText(first)}`,
          `price:           ${priceText(first.price)}`,
        ];
  return [`${paint('bold', visibleLine(id))}  (${names})`, ...facts.map((fact) => `  ${fact}`)].join('\n');
}

function keyText(key: ReportedKeySource): string {
  switch (key.type) {
    case 'none':
      return 'none needed';
    case 'command':
      return `printed by the command ${visibleLine(key.program)} …`;
    case 'variable':
      if (key.set) return `${key.name}, which is set in this terminal`;
      return key.needed ? `${key.name}, which is not set in this terminal` : 'none needed';
  }
}

function windowText({ contextWindow, windowAssumed }: ModelUse): string {
  if (contextWindow === null) return 'unlimited';
  const tokens = `${contextWindow.toLocaleString('en-US')} tokens`;
  return windowAssumed ? `unknown; the server assumes ${tokens} ("contextWindow")` : tokens;
}

function priceText(price: ModelUse['price']): string {
  if (price === null) return 'unknown ("prices")';
  const cached = price.cachedInput === undefined ? '' : ` ($${price.cachedInput} from the cache)`;
  return `$${price.input} input${cached}, $${price.output} output, for a million tokens`;
}

/** Formats the models that programs on this machine serve. Returns '' if there are none. */
export function localModelsText({ local }: Pick<ModelReport, 'local'>): string {
  const lines = local.map(
    ({ provider, url, models }) =>
      `  ${models.map((model) => `${provider}:${visibleLine(model)}`).join(', ')}  (${visibleLine(url)})`,
  );
  return lines.length === 0 ? '' : ['This machine serves:', ...lines].join('\n');
}

/**
 * Formats the known models as a table.
 * @param width the width of the terminal in columns; undefined if stdout is not a terminal
 */
export function knownModelsText(known: ModelReport['known'], width: number | undefined): string {
  const rows = known.map(({ id, contextWindow, price }) => [
    { text: contextWindow === null ? '' : contextWindow.toLocaleString('en-US') },
    { text: price === null ? '?' : String(price.input) },
    { text: price === null ? '?' : String(price.output) },
    { text: visibleLine(id) },
  ]);
  const columns = [
    { title: 'WINDOW', align: 'right' },
    { title: '$ IN', align: 'right' },
    { title: '$ OUT', align: 'right' },
    { title: 'MODEL' },
  ] as const;
  return formatTable(columns, rows, width);
}
