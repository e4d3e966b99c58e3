/**
 * Writes `a2a-server/models/known-models.json`: context windows, prices and input modes of the models of Anthropic, OpenAI and Google, from the
 * package `@pydantic/genai-prices` and the table below. To update: install a newer version of the package, then `npm run update-models`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { findProvider, type ModelInfo, type ModelPrice } from '@pydantic/genai-prices';
import { z } from 'zod';

const PACKAGE = '@pydantic/genai-prices';
const { devDependencies } = z
  .object({ devDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));
const TODAY = new Date().toISOString().slice(0, 10);
const PROVIDERS = { anthropic: /^claude-/, openai: /^(?:gpt-|o\d|codex)/, google: /^(?:gemini|gemma)-/ };
/** They are no chat models, or are charged by other units than text. */
const OTHER = /audio|embed|image|instruct|live|realtime|search|transcribe|tts|video/;
/**
 * The files that the models take, by family. The package has no such data. The first match applies.
 *
 * - Anthropic (Vision, PDF support): all models since Claude 3 take images, and those since Claude 3.5 take PDFs.
 * - OpenAI (Images and vision, File inputs): models with vision take images, and PDFs since GPT-4o.
 * - Google (Image understanding, Document understanding): Gemini takes images without GIF, and PDFs.
 */
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const PDF = 'application/pdf';
const INPUT_MODES: Readonly<Record<string, readonly (readonly [RegExp, readonly string[]])[]>> = {
  anthropic: [
    [/^claude-(?:2|v1|instant)/, []],
    [/^claude-3-(?:haiku|opus|sonnet)/, IMAGES],
    [/^claude-/, [...IMAGES, PDF]],
  ],
  openai: [
    [/^o1-(?:mini|preview)|^o3-mini/, []],
    [/^gpt-4-(?:turbo|vision)/, IMAGES],
    [/^(?:gpt-4[.o]|gpt-[5-9]|gpt-chat|o[1-9]|codex-mini)/, [...IMAGES, PDF]],
  ],
  google: [
    [/^gemini-(?:1\.0|pro$)/, []],
    [/^gemini-/, ['image/png', 'image/jpeg', 'image/webp', PDF]],
  ],
};

function inputModesOf(providerId: string, model: string): readonly string[] {
  return INPUT_MODES[providerId]?.find(([family]) => family.test(model))?.[1] ?? [];
}

/** Their names there, and ours. */
const RATES = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cachedInput',
  cache_write_mtok: 'cacheWrite',
};

const lines = Object.entries(PROVIDERS).map(([providerId, pattern]) => {
  const provider = findProvider({ providerId });
  const [page = ''] = provider?.pricing_urls ?? [];
  const source = `${PACKAGE} ${devDependencies[PACKAGE]}, after ${page}`;
  const models = (provider?.models ?? [])
    .filter(({ id, deprecated }) => pattern.test(id) && !OTHER.test(id) && deprecated !== true)
    .flatMap((model) => {
      const price = priceOf(currentPrices(model));
      if (price === undefined) return [];
      const { id, context_window: contextWindow } = model;
      const inputModes = inputModesOf(providerId, id);
      const known = {
        ...(contextWindow !== undefined && { contextWindow }),
        price,
        ...(inputModes.length > 0 && { inputModes }),
        source,
        date: TODAY,
      };
      return [`    ${JSON.stringify(id)}: ${JSON.stringify(known)}`];
    });
  return `  ${JSON.stringify(providerId)}: {\n${models.toSorted().join(',\n')}\n  }`;
});
writeFileSync('a2a-server/models/known-models.json', `{\n${lines.join(',\n')}\n}\n`);

/** The newest prices that have begun. Prices by the time of day are left out. */
function currentPrices({ prices }: ModelInfo): ModelPrice | undefined {
  if (!Array.isArray(prices)) return prices;
  if (prices.some(({ constraint }) => constraint?.type === 'time_of_date')) return undefined;
  return prices.findLast(
    ({ constraint }) => constraint?.type !== 'start_date' || constraint.start_date <= TODAY,
  )?.prices;
}

/** @returns undefined if a rate has several steps, which our price cannot say. */
function priceOf(prices: ModelPrice | undefined): Record<string, unknown> | undefined {
  const base: Record<string, number> = {};
  const long: Record<string, number> = {};
  const starts = new Set<number>();
  for (const [key, name] of Object.entries(RATES)) {
    const rate = prices?.[key];
    if (rate === undefined) continue;
    if (typeof rate === 'number') {
      base[name] = rate;
      long[name] = rate;
      continue;
    }
    base[name] = rate.base;
    for (const { start, price } of rate.tiers) {
      starts.add(start);
      long[name] = price;
    }
  }
  if (base['input'] === undefined || base['output'] === undefined || starts.size > 1) return undefined;
  const [above] = starts;
  return above === undefined ? base : { ...base, longPrompt: { above, ...long } };
}
