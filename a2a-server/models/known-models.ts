/**
 * Reads the context windows, prices, input modes and parameter limits of well-known models. `npm run update-models`
 * writes the data. The settings override the windows, the prices and the input modes.
 */
import { parseUrl } from '../../shared/net/parse-url.ts';
import type { Price } from '../task/spending.ts';
import known from './known-models.json' with { type: 'json' };

/** The limits of the parameters that a model accepts. An absent field is unknown. */
export interface ParameterLimits {
  /** The maximum length of an answer in tokens, including reasoning. */
  maxOutputTokens?: number;
  /** The accepted reasoning efforts: some of `low`, `medium` and `high`. Empty if the model does not reason. */
  efforts?: string[];
  temperature?: boolean;
}

export interface KnownModel extends ParameterLimits {
  contextWindow?: number;
  price?: Price;
  /** The media types of the files that the model accepts. If absent, the model accepts only text. */
  inputModes?: string[];
}

interface KnownList {
  source: string;
  /** The date of the prices, in ISO format. */
  date: string;
  models: Readonly<Record<string, KnownModel>>;
}

const KNOWN: Readonly<Record<string, KnownList>> = known;

/** For the provider `openai-compatible`: the name of a list of known models, by the host in the base URL. */
const LIST_BY_HOST: Readonly<Record<string, string>> = {
  'api.deepseek.com': 'deepseek',
  'api.x.ai': 'xai',
  'api.mistral.ai': 'mistral',
  'api.groq.com': 'groq',
  'openrouter.ai': 'openrouter',
};

/** Returns the name of the list for an endpoint with Chat Completions. Undefined if no list covers the host. */
export function knownModelListName(baseUrl: string): string | undefined {
  const host = parseUrl(baseUrl)?.hostname ?? '';
  return Object.hasOwn(LIST_BY_HOST, host) ? LIST_BY_HOST[host] : undefined;
}

/**
 * @param list the provider's name, or the result of `knownModelListName`
 * @param model the name, optionally with a version date, e.g. `claude-sonnet-4-5-20250929`
 */
export function findKnownModel(list: string, model: string): KnownModel | undefined {
  const found = Object.hasOwn(KNOWN, list) ? KNOWN[list] : undefined;
  if (found === undefined) return undefined;
  return namedModel(found, model) ?? (list === 'openrouter' ? routedModel(found, model) : undefined);
}

function namedModel({ models }: KnownList, model: string): KnownModel | undefined {
  const undated = model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  const name = [model, undated].find((each) => Object.hasOwn(models, each));
  return name === undefined ? undefined : models[name];
}

/**
 * Finds the model under its name without the suffix, and returns its facts without the price. OpenRouter: a suffix
 * (`:nitro`, `:floor`, `:online` …) chooses another route to the model, at another price.
 */
function routedModel(found: KnownList, model: string): KnownModel | undefined {
  const colon = model.lastIndexOf(':');
  const base = colon === -1 ? undefined : namedModel(found, model.slice(0, colon));
  if (base === undefined) return undefined;
  const { price: _, ...facts } = base;
  return facts;
}

/** A model of the lists, with its id, like `anthropic:claude-sonnet-4-5`. */
interface ListedModel extends KnownModel {
  id: string;
  date: string;
}

/** Returns the models of a list. Without `list`, returns the models of all lists. */
export function listedModels(list?: string): ListedModel[] {
  return Object.entries(KNOWN)
    .filter(([name]) => list === undefined || name === list)
    .flatMap(([name, { models, date }]) =>
      Object.entries(models).map(([model, facts]) => ({ ...facts, id: `${name}:${model}`, date })),
    );
}
