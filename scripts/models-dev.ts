/** Reads the parameters that models take from a checkout of https://github.com/anomalyco/models.dev. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '@decimalturn/toml-patch';
import { z } from 'zod';
import type { ParameterLimits } from '../a2a-server/models/known-models.ts';

const EFFORTS = ['low', 'medium', 'high'];

/** The fields of a model's file that the limits need. A file may extend a base model. */
const modelFile = z.object({
  base_model: z.string().optional(),
  reasoning: z.boolean().optional(),
  reasoning_options: z
    .array(z.object({ type: z.string(), values: z.array(z.string()).optional() }))
    .optional(),
  temperature: z.boolean().optional(),
  limit: z.object({ context: z.number().optional(), output: z.number().optional() }).optional(),
  modalities: z.object({ input: z.array(z.string()) }).optional(),
});
type ModelFile = z.infer<typeof modelFile>;

export interface ModelsDevModel {
  /** In tokens. */
  contextWindow?: number;
  /** The input types of the model: some of `text`, `image`, `pdf`, `audio` and `video`. Absent for an unknown model. */
  modalities?: readonly string[];
  limits: ParameterLimits;
}

export interface ModelsDev {
  /** The address of the repository with the commit and its date. */
  source: string;
  /**
   * @param names the names of one model. The first name that the repository has is used.
   * @returns no facts for an unknown model
   */
  factsOf(provider: string, names: readonly string[]): ModelsDevModel;
}

/** @throws Error if the directory is not such a checkout */
export function openModelsDev(checkout: string): ModelsDev {
  if (!existsSync(join(checkout, 'providers')))
    throw new Error(`${checkout} is not a checkout of https://github.com/anomalyco/models.dev`);
  const commit = execFileSync('git', ['-C', checkout, 'log', '-1', '--format=%h of %cs'], {
    encoding: 'utf8',
  });
  return {
    source: `https://github.com/anomalyco/models.dev, commit ${commit.trim()}`,
    factsOf(provider, names) {
      const directory = join(checkout, 'providers', provider, 'models');
      const found = existsSync(directory)
        ? findName(
            readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((file) =>
              file.replace(/\.toml$/, ''),
            ),
            names,
          )
        : undefined;
      return found === undefined
        ? { limits: {} }
        : factsIn(wholeFile(checkout, join(directory, `${found}.toml`)));
    },
  };
}

/** Finds a model by one of its names. If no name matches exactly, returns the newest dated version. */
function findName(listed: readonly string[], names: readonly string[]): string | undefined {
  return (
    names.find((name) => listed.includes(name)) ??
    listed.toSorted().findLast((each) => names.some((name) => undated(each) === undated(name)))
  );
}

function undated(model: string): string {
  return model.replace(/-(?:latest|\d{8}|\d{4}-\d{2}-\d{2})$/, '');
}

function wholeFile(checkout: string, path: string): ModelFile {
  const own = modelFile.parse(parse(readFileSync(path, 'utf8')));
  if (own.base_model === undefined) return own;
  const base = wholeFile(checkout, join(checkout, 'models', `${own.base_model}.toml`));
  return { ...base, ...own, limit: { ...base.limit, ...own.limit } };
}

function factsIn(file: ModelFile): ModelsDevModel {
  const { limit, modalities } = file;
  return {
    ...(limit?.context !== undefined && limit.context > 0 && { contextWindow: limit.context }),
    ...(modalities && { modalities: modalities.input }),
    limits: limitsIn(file),
  };
}

function limitsIn({ reasoning, reasoning_options = [], temperature, limit }: ModelFile): ParameterLimits {
  const efforts = reasoning === false ? [] : effortsOf(reasoning_options);
  return {
    ...(limit?.output !== undefined && limit.output > 0 && { maxOutputTokens: limit.output }),
    ...(efforts && { efforts }),
    ...(temperature === false && { temperature }),
  };
}

/** A model with a reasoning budget takes every effort, because the server converts an effort to tokens. */
function effortsOf(options: NonNullable<ModelFile['reasoning_options']>): string[] | undefined {
  if (options.some(({ type }) => type === 'budget_tokens')) return EFFORTS;
  const values = options.find(({ type }) => type === 'effort')?.values;
  return values && EFFORTS.filter((effort) => values.includes(effort));
}
