/** Sends a short request to one model. If the model does not answer, the result tells the person what to do. */
import { type CheckResult, checkResults } from '../../../shared/runtime/check-result.ts';
import { nearestNames } from '../../../shared/text/nearest-names.ts';
import { listedModels } from '../../models/known-models.ts';
import { findLocalModels, isLoopbackUrl } from '../../models/local-models.ts';
import type { Model } from '../../models/model.ts';
import { modelFacts } from '../../models/model-facts.ts';
import { MIN_WINDOW_TOKENS, OFFLINE_MODEL_ID, parseModelId } from '../../models/model-settings.ts';
import { API_KEY_COMMAND_LIMIT_MS } from '../../../shared/runtime/key-command.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { providerUrl } from '../../models/providers.ts';
import { readServedContextWindow } from '../../models/served-window.ts';
import type { ServerSettings } from '../settings/settings.ts';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { needsResponsesApi } from '../../models/provider-requests/needs-responses-api.ts';
import { refusedKeyOrModel } from '../../models/provider-failure.ts';

interface CheckedSettings {
  settings: Pick<ServerSettings, 'baseUrls' | 'keys' | 'prices' | 'contextWindow' | 'inputModes'>;
  env: Environment;
}

export async function checkModel(
  model: Model,
  subject: string,
  { settings, env }: CheckedSettings,
): Promise<CheckResult> {
  const parsed = parseModelId(model.id);
  if (parsed === undefined)
    return checkResults(subject).ok(
      `${OFFLINE_MODEL_ID}, which understands a few fixed sentences. To choose a language model: mcp-a2a-bridge model set <provider>:<model>`,
    );
  const url = providerUrl(parsed.provider, settings.baseUrls[parsed.provider], env);
  const key = settings.keys[parsed.provider];
  const runsCommand = key !== undefined && 'command' in key;
  const tried = await tryModel(model, TRIAL_LIMIT_MS + (runsCommand ? API_KEY_COMMAND_LIMIT_MS : 0));
  switch (tried.type) {
    case 'answers':
      return answeredResult(model.id, `${model.id} answers (${(tried.ms / 1000).toFixed(1)} s)`, {
        subject,
        price: priceNote(model),
        assumed: modelFacts(model.id, settings, env).contextWindow,
        served: isLoopbackUrl(url) ? await readServedContextWindow(parsed, url) : undefined,
      });
    case 'slow':
      return slowModelResult(model.id, { subject, url, limitMs: tried.limitMs });
    case 'failed':
      return checkResults(subject).fail(
        tried.problem.startsWith(`${model.id} `)
          ? tried.problem
          : `${model.id} does not answer: ${tried.problem}`,
        await nextStep(model.id, tried, { settings, url }),
      );
  }
}

/**
 * Returns the result for a model that answered. Warns if the local program loaded the model with a smaller context
 * window than the server uses.
 * @param facts `price`: a note about the price, or ''. `assumed`: the context window that the server uses. `served`:
 * the window that the local program reports, if it does.
 */
function answeredResult(
  id: string,
  message: string,
  {
    subject,
    price,
    assumed,
    served,
  }: { subject: string; price: string; assumed: number; served: number | undefined },
): CheckResult {
  if (served === undefined || served >= assumed) return checkResults(subject).ok(`${message}${price}`);
  const setting = JSON.stringify({ server: { contextWindow: { [id]: served } } });
  return checkResults(subject).warn(
    `${message}. But it is loaded with a context window of ${served} tokens, and the server uses up to ${assumed}. Longer prompts fail, or lose their beginning`,
    served >= MIN_WINDOW_TOKENS
      ? `Add to the configuration file: ${setting}. Or load the model with a larger window.`
      : `Load the model with at least ${MIN_WINDOW_TOKENS} tokens, better 32768 (Ollama: OLLAMA_CONTEXT_LENGTH, llama.cpp: --ctx-size, vLLM: --max-model-len, LM Studio: the settings of the model), and set "contextWindow" to this number.`,
  );
}

/** Returns a note if the price of the model is unknown. The server then cannot compute the cost of a task. */
function priceNote({ price }: Model): string {
  return price === undefined
    ? '; its price is unknown. Set "prices" to see what tasks cost (docs/models.md)'
    : '';
}

function slowModelResult(
  id: string,
  { subject, url, limitMs }: { subject: string; url: string; limitMs: number },
): CheckResult {
  const message = `${id} has not answered within ${limitMs / 1000} s`;
  return isLoopbackUrl(url)
    ? checkResults(subject).warn(
        `${message}. A local model may still be loading`,
        'Run this again in a moment.',
      )
    : checkResults(subject).fail(
        message,
        'Check the network and the state of the provider, then run this again.',
      );
}

async function nextStep(
  id: string,
  { cause }: Extract<ModelTrial, { type: 'failed' }>,
  { settings, url }: { settings: CheckedSettings['settings']; url: string },
): Promise<string> {
  if (cause === 'key')
    return `Correct the key there, or name another source: ${modelSet(id)} --key-command "<a command that prints the key>".`;
  if (cause === 'model') {
    const [nearest, ...others] = await similarModels(id, settings);
    if (nearest === undefined) return 'Choose another model: mcp-a2a-bridge model list.';
    const rest = others.length === 0 ? '' : ` (or ${others.join(', ')})`;
    return `Did you mean ${nearest}${rest}? Run: ${modelSet(nearest)}. "mcp-a2a-bridge model list" lists all.`;
  }
  if (cause === 'connection' && !isLoopbackUrl(url))
    return `Check that this machine reaches ${url}, then run this again. If this machine needs a proxy, set ${proxyVariable(url)}.`;
  if (cause === 'connection')
    return `Start the program that serves the model at ${url}, or name its address: ${modelSet(id)} --base-url <url>.`;
  return 'Do what the message says, then run this again.';
}

function proxyVariable(url: string): string {
  return new URL(url).protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
}

async function similarModels(id: string, settings: CheckedSettings['settings']): Promise<string[]> {
  const provider = parseModelId(id)?.provider;
  const local = await findLocalModels(settings);
  const served = local
    .filter((each) => each.provider === provider)
    .flatMap(({ models }) => models.map((model) => `${provider}:${model}`));
  const known = listedModels(provider).map((each) => each.id);
  const near = nearestNames(id, [...served, ...known]);
  // No id is similar. Few models are installed locally, so the result names the first of them.
  return near.length > 0 ? near : served.slice(0, 3);
}

function modelSet(id: string): string {
  return `mcp-a2a-bridge model set ${id}`;
}

export const TRIAL_LIMIT_MS = 10_000;
/** The length limit of the model's response, in tokens. OpenAI's Responses API accepts no smaller limit. */
const MIN_RESPONSE_TOKENS = 16;

type ModelTrial =
  | { type: 'answers'; ms: number }
  /** The model sent nothing within the time limit. */
  | { type: 'slow'; limitMs: number }
  | { type: 'failed'; problem: string; cause: FailureCause };

/**
 * `key` and `model` mean that the provider refused the key or the model. `connection` means that there is no connection
 * to the provider.
 */
type FailureCause = 'key' | 'model' | 'connection' | 'other';

/** The request offers one tool, because a model that accepts no tools cannot be an agent. */
const TOOL = {
  name: 'finish',
  description: 'Ends the work',
  inputSchema: { type: 'object' as const, properties: {}, additionalProperties: false },
};

/**
 * Tests a model. Requests the shortest answer, and ends the request after the first event.
 * @param limitMs in milliseconds
 */
export async function tryModel(model: Model, limitMs = TRIAL_LIMIT_MS): Promise<ModelTrial> {
  const before = performance.now();
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  try {
    const request = {
      instructions: '',
      conversation: [{ role: 'user' as const, text: 'Answer with one word: ready' }],
      exchanges: [],
      tools: [TOOL],
      maxOutputTokens: leastAnswer(model.id),
      signal: limit.signal,
    };
    // `break` ends the iteration, which cancels the request.
    for await (const _ of model.stream(request)) break;
    return { type: 'answers', ms: performance.now() - before };
  } catch (error) {
    return limit.signal.aborted
      ? { type: 'slow', limitMs }
      : { type: 'failed', problem: errorMessageOf(error), cause: causeOf(error) };
  } finally {
    clearTimeout(timer);
  }
}

function causeOf(error: unknown): FailureCause {
  const refused = refusedKeyOrModel(error);
  if (refused !== undefined) return refused;
  const unconnected = error instanceof ProductError && error.retryable && error.facts['status'] === undefined;
  return unconnected ? 'connection' : 'other';
}

/** Returns the smallest output limit that the provider accepts, in tokens. */
function leastAnswer(id: string): number {
  const named = parseModelId(id);
  return named?.provider === 'openai' && needsResponsesApi(named.model) ? MIN_RESPONSE_TOKENS : 1;
}
