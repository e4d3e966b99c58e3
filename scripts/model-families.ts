/**
 * Facts about families of models from the documentation of their makers. They complete or replace the data of the other
 * sources.
 */
import type { ParameterLimits } from '../a2a-server/models/known-models.ts';

type Families<Fact> = Readonly<Record<string, readonly (readonly [RegExp, Fact])[]>>;

export const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
export const PDF = 'application/pdf';

/**
 * The files that the models accept. The first match applies. The pages of the documentation are in parentheses.
 *
 * - Anthropic (Vision, PDF support): models since Claude 3 accept images. Models since Claude 3.5 also accept PDFs.
 * - OpenAI (Images and vision, File inputs): models with vision accept images. Since GPT-4o, they also accept PDFs.
 * - Google (Image understanding, Document understanding): Gemini accepts PDFs, and images except GIF.
 */
const INPUT_MODES: Families<readonly string[]> = {
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

/** @returns undefined for the models of another maker */
export function inputModesOf(maker: string, model: string): readonly string[] | undefined {
  const families = INPUT_MODES[maker];
  return families && (families.find(([family]) => family.test(model))?.[1] ?? []);
}

/**
 * The limits of parameters. For each field, the last match applies.
 *
 * - OpenAI (Reasoning models): they refuse a temperature. The older models do not reason.
 * - Anthropic (Extended thinking): models before Claude 3.7 do not reason. The newest models, and the larger limit of
 *   Sonnet 4.6, are in the table of the package `@ai-sdk/anthropic` 3.0.138 (`getModelCapabilities`).
 * - Google (Thinking): models before Gemini 2.5 do not reason.
 */
const LIMITS: Families<ParameterLimits> = {
  anthropic: [
    [/^claude-(?:2|v1|3-(?:5|haiku|opus|sonnet))/, { efforts: [] }],
    [/^claude-sonnet-4-6/, { maxOutputTokens: 128_000 }],
    [/^claude-(?:opus-5|fable-5-1)/, { maxOutputTokens: 128_000, temperature: false }],
  ],
  openai: [
    [/^gpt-[34]/, { efforts: [] }],
    [/^(?:o\d|codex|gpt-[5-9])(?!.*chat)/, { temperature: false }],
  ],
  google: [[/^gemini-(?:1|2\.0|pro|flash-1)/, { efforts: [] }]],
};

export function limitsOf(maker: string, model: string): ParameterLimits {
  const ours = (LIMITS[maker] ?? []).filter(([family]) => family.test(model));
  return Object.assign({}, ...ours.map(([, limits]) => limits));
}
