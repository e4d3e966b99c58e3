/**
 * Writes `a2a-server/models/known-models.json`: context windows, prices, input modes and limits of parameters of known
 * models. The sources are the package `@pydantic/genai-prices`, a checkout of models.dev, and `model-families.ts`.
 * To update: install a newer version of the package, clone https://github.com/anomalyco/models.dev, then
 * `npm run update-models -- <checkout>`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { KnownModel } from '../a2a-server/models/known-models.ts';
import { MIN_WINDOW_TOKENS } from '../a2a-server/models/model-settings.ts';
import { IMAGES, inputModesOf, limitsOf, PDF } from './model-families.ts';
import { openModelsDev, type ModelsDevModel } from './models-dev.ts';
import { pricedModels, type PricedModel } from './package-prices.ts';

const PACKAGE = '@pydantic/genai-prices';
const { devDependencies } = z
  .object({ devDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));
const [, , checkout] = process.argv;
if (checkout === undefined) {
  process.stderr.write(
    'Usage: npm run update-models -- <checkout of https://github.com/anomalyco/models.dev>\n',
  );
  process.exit(2);
}
const modelsDev = openModelsDev(checkout);
const TODAY = new Date().toISOString().slice(0, 10);

type Known = Pick<KnownModel, 'contextWindow' | 'inputModes' | 'maxOutputTokens' | 'efforts' | 'temperature'>;

interface List {
  /** The provider's name in the package, if it differs. */
  inPackage?: string;
  /** The names of the models that chat. */
  chat: RegExp;
  /** True if each alias of a model gets an entry too. */
  aliases: boolean;
  /** @returns undefined to leave the name out */
  facts: (name: string, model: PricedModel) => Known | undefined;
}

/** Matches the names of models that do not chat, or whose price is not per token of text. */
const OTHER =
  /audio|deep-research|embed|guard|-image|lyria|live|ocr|realtime|router|safety|search|sonar|transcribe|tts|turbo-instruct|video|voice|voxtral|whisper|:batch/;

const LISTS: Readonly<Record<string, List>> = {
  anthropic: ofMaker('anthropic', /^claude-/),
  openai: ofMaker('openai', /^(?:gpt-|o\d|codex)/),
  google: ofMaker('google', /^(?:gemini|gemma)-/),
  openrouter: { chat: /^~?[\w-]+\//, aliases: true, facts: factsAtOpenRouter },
  // These endpoints take images in Chat Completions, and no PDFs. xAI takes only PNG and JPEG.
  deepseek: behindEndpoint('deepseek', /^deepseek-/, IMAGES),
  xai: { ...behindEndpoint('xai', /^grok-/, ['image/png', 'image/jpeg']), inPackage: 'x-ai' },
  mistral: behindEndpoint('mistral', /tral/, IMAGES),
  groq: behindEndpoint('groq', /./, IMAGES),
};

function ofMaker(maker: string, chat: RegExp): List {
  return {
    chat,
    aliases: false,
    facts: (name, { contextWindow }) => factsOfMaker(maker, name, contextWindow),
  };
}

function factsOfMaker(maker: string, name: string, contextWindow: number | undefined): Known {
  const inputModes = inputModesOf(maker, name) ?? [];
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(inputModes.length > 0 && { inputModes: [...inputModes] }),
    ...modelsDev.factsOf(maker, [name]).limits,
    ...limitsOf(maker, name),
  };
}

/** OpenRouter takes the images and PDFs that the model takes. It no longer offers a model without a context window. */
function factsAtOpenRouter(name: string, { id, contextWindow }: PricedModel): Known | undefined {
  const [maker = '', model = ''] = name.replace(/^~/, '').split('/');
  const ofThisMaker = maker === 'anthropic' ? model.replaceAll('.', '-') : model;
  const found = modelsDev.factsOf('openrouter', [name]);
  if (found.modalities === undefined)
    return name === id && contextWindow !== undefined
      ? factsOfMaker(maker, ofThisMaker, contextWindow)
      : undefined;
  const images = maker === 'google' ? IMAGES.filter((type) => type !== 'image/gif') : IMAGES;
  return { ...factsIn(found, [...images, PDF]), ...limitsOf(maker, ofThisMaker) };
}

function behindEndpoint(provider: string, chat: RegExp, images: readonly string[]): List {
  return {
    chat,
    aliases: true,
    facts(name, { id, aliases, contextWindow }) {
      const found = modelsDev.factsOf(provider, [name, id, ...aliases]);
      const known = { ...(contextWindow !== undefined && { contextWindow }), ...factsIn(found, images) };
      return known.contextWindow === undefined ? undefined : known;
    },
  };
}

/** @param files the types that the endpoint takes */
function factsIn(
  { contextWindow, modalities = [], limits }: ModelsDevModel,
  files: readonly string[],
): Known {
  const inputModes = files.filter((type) => modalities.includes(type === PDF ? 'pdf' : 'image'));
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(inputModes.length > 0 && { inputModes }),
    ...limits,
  };
}

const lists = Object.entries(LISTS).map(([name, { inPackage = name, chat, aliases, facts }]) => {
  const { models, page } = pricedModels(inPackage, TODAY);
  const known = new Map<string, object>();
  for (const model of models)
    for (const each of [model.id, ...(aliases ? model.aliases : [])]) {
      if (!chat.test(each) || OTHER.test(each) || known.has(each)) continue;
      const found = facts(each, model);
      const contextWindow = found?.contextWindow;
      // Without price and window, the line would say nothing that a person needs.
      if (found === undefined || (model.price ?? contextWindow) === undefined) continue;
      // The instructions and tools do not fit into a smaller window.
      if (contextWindow !== undefined && contextWindow < MIN_WINDOW_TOKENS) continue;
      known.set(each, { ...(model.price && { price: model.price }), ...found });
    }
  const lines = [...known].map(([id, line]) => `      ${JSON.stringify(id)}: ${JSON.stringify(line)}`);
  const source = `${PACKAGE} ${devDependencies[PACKAGE]}, after ${page}; parameters: ${modelsDev.source}`;
  return [
    `  ${JSON.stringify(name)}: {`,
    `    "source": ${JSON.stringify(source)},`,
    `    "date": ${JSON.stringify(TODAY)},`,
    `    "models": {\n${lines.toSorted().join(',\n')}\n    }\n  }`,
  ].join('\n');
});
writeFileSync('a2a-server/models/known-models.json', `{\n${lists.join(',\n')}\n}\n`);
