/**
 * The output of `a2a-server models`: the models in the settings, the models that this version knows, and the models of
 * local programs such as Ollama.
 */
import { z } from 'zod';

/** The price of a model in US dollars per million tokens. */
const price = z.object({
  input: z.number(),
  output: z.number(),
  cachedInput: z.number().optional(),
  cacheWrite: z.number().optional(),
});

const keySource = z.discriminatedUnion('type', [
  z.object({ type: z.literal('none') }),
  /** `set` is false if the variable is not set in the process that created the report. */
  z.object({ type: z.literal('variable'), name: z.string(), set: z.boolean(), needed: z.boolean() }),
  z.object({ type: z.literal('command'), program: z.string() }),
]);
export type ReportedKeySource = z.infer<typeof keySource>;

const modelUse = z.object({
  /** What the settings use the model for: `default`, a tier (`fast`, `smart`), or `other`. */
  use: z.string(),
  id: z.string(),
  /** The source of the setting: a flag, a variable, the path of a file, or `default`. */
  origin: z.string(),
  /** The URL of the provider. Null for the offline model, or if the settings contain no URL. */
  url: z.string().nullable(),
  key: keySource,
  /** The context window in tokens. Null for the offline model. */
  contextWindow: z.number().nullable(),
  windowAssumed: z.boolean(),
  /** Null if the price of the model is unknown. */
  price: price.nullable(),
});
export type ModelUse = z.infer<typeof modelUse>;

export const modelReportSchema = z.object({
  /** The agent that runs the tasks, in the same words as `GET /health`. */
  agent: z.string(),
  agentType: z.enum(['model', 'scripted', 'acp']),
  uses: z.array(modelUse),
  known: z.array(
    z.object({
      id: z.string(),
      contextWindow: z.number().nullable(),
      /** Null if the price of the model is unknown. */
      price: price.nullable(),
      date: z.string(),
    }),
  ),
  local: z.array(z.object({ provider: z.string(), url: z.string(), models: z.array(z.string()) })),
});
export type ModelReport = z.infer<typeof modelReportSchema>;
