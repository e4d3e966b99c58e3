/**
 * Context windows, prices and input modes of well-known models. `npm run update-models` writes the data. Each line has
 * its source and date. The settings override these values.
 */
import type { Price } from '../task/spending.ts';
import known from './known-models.json' with { type: 'json' };

export interface KnownModel {
  /** The context window in tokens. */
  contextWindow?: number;
  price: Price;
  /** The media types of the files that the model takes. None if absent. */
  inputModes?: string[];
  source: string;
  /** The date when the data of the line was read from its source. */
  date: string;
}

const KNOWN: Readonly<Record<string, Readonly<Record<string, KnownModel>>>> = known;

/** @param model the name, optionally with a version date, e.g. `claude-sonnet-4-5-20250929` */
export function knownModel(provider: string, model: string): KnownModel | undefined {
  const models = Object.hasOwn(KNOWN, provider) ? KNOWN[provider] : undefined;
  const undated = model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  const name = [model, undated].find((each) => models !== undefined && Object.hasOwn(models, each));
  return name === undefined ? undefined : models?.[name];
}

/** The ids of all known models, or of those of one provider, e.g. `anthropic:claude-sonnet-4-5`. */
export function knownModelIds(provider?: string): string[] {
  return Object.entries(KNOWN)
    .filter(([name]) => provider === undefined || name === provider)
    .flatMap(([name, models]) => Object.keys(models).map((model) => `${name}:${model}`));
}
