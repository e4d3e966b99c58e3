/** The output of `a2a-server models`: the models of the settings, the known models, and the models of this machine. */
import { z } from 'zod';

/** US dollars per million tokens. */
const price = z.object({
  input: z.number(),
  output: z.number(),
  cachedInput: z.number().optional(),
  cacheWrite: z.number().optional(),
});

const keySource = z.discriminatedUnion('type', [
  z.object({ type: z.literal('none') }),
  /** `set` is false if the process that made the report does not have the variable. */
  z.object({ type: z.literal('variable'), name: z.string(), set: z.boolean(), needed: z.boolean() }),
  z.object({ type: z.literal('command'), program: z.string() }),
]);
export type ReportedKey = z.infer<typeof keySource>;

const modelUse = z.object({
  /** `default`, a tier, or `other`. */
  use: z.string(),
  id: z.string(),
  /** A flag, a variable, the path of a file, or `default`. */
  origin: z.string(),
  /** Null for the offline model, or if the settings lack the URL. */
  url: z.string().nullable(),
  key: keySource,
  /** The context window in tokens. Null for the offline model. */
  contextWindow: z.number().nullable(),
  windowAssumed: z.boolean(),
  /** Null if the price is unknown. */
  price: price.nullable(),
});
export type ModelUse = z.infer<typeof modelUse>;

export const modelReportSchema = z.object({
  /** The agent that runs the tasks, as in `GET /health`. */
  agent: z.string(),
  agentType: z.enum(['model', 'scripted', 'acp']),
  uses: z.array(modelUse),
  known: z.array(
    z.object({
      id: z.string(),
      contextWindow: z.number().nullable(),
      /** Null if the price is unknown. */
      price: price.nullable(),
      date: z.string(),
    }),
  ),
  local: z.array(z.object({ provider: z.string(), url: z.string(), models: z.array(z.string()) })),
});
export type ModelReport = z.infer<typeof modelReportSchema>;
