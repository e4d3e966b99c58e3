/**
 * Converts provider errors to errors that tell a person what to do. The errors contain no headers, no request and no
 * URL. If the provider refuses the key, the error also omits the provider's message. That message may contain the key.
 */
import {
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider';
import { certificateProblem, type CertificateRemedy } from '../../shared/net/certificate-problem.ts';
import { errorMessageOf, ProductError, type ErrorFacts } from '../../shared/runtime/errors.ts';
import { isProgramFileMissing } from '../../shared/runtime/missing-program-file.ts';
import { fieldOf } from '../../shared/runtime/record.ts';
import { PromptTooLongError, RETRY_AFTER_FACT } from './model.ts';
import { StreamCutOffError } from './model-stream-reader.ts';
import { errorNames, unreadReason, rawReason, requestedPauseMs } from './provider-error-body.ts';

export interface ProviderFailureContext {
  model: string;
  keySource?: string;
  secrets: readonly string[];
}

const NETWORK_CODE = /^(?:UND_ERR_|E(?:CONN|PIPE|TIMEDOUT|HOST|NET|AI_AGAIN|NOTFOUND|PROTO))/;
const RETRIED_STATUSES = new Set([408, 409, 425, 429]);

/**
 * Matches the message for a prompt that is too long. No provider has a special HTTP status for this error.
 * - Anthropic: "prompt is too long: …", "input length and `max_tokens` exceed context limit: …".
 * - OpenAI, vLLM: "maximum context length is …".
 * - Google: "input token count (…) exceeds the maximum number of tokens allowed".
 * - llama.cpp: "exceeds the available context size".
 * - xAI: "maximum prompt length is …".
 * - Groq: "Please reduce the length of the messages".
 * - Moonshot: "exceeded model token limit".
 */
const TOO_LONG =
  /(?:prompt|input|request) is too (?:long|large)|maximum (?:context|prompt length)|context[ _](?:length|limit|size|window)|token count .*exceeds|reduce the length|model token limit/i;

/**
 * Matches llama.cpp's message inside a stream (code 500). The same prompt would fail again, so the prompt must be
 * shorter.
 */
const CONTEXT_FULL = /context size has been exceeded/i;

/**
 * Converts an error of a model call to a ProductError. The call threw the error, or the stream contained it. If a retry
 * may succeed, the ProductError is retryable, and has the fact `RETRY_AFTER_FACT` if the provider requests a delay.
 */
export function toProviderError(thrown: unknown, context: ProviderFailureContext): ProductError {
  if (thrown instanceof ProductError) return thrown;
  const { model, keySource = 'its key', secrets } = context;
  if (isProgramFileMissing(thrown))
    return new ProductError(
      'AGENT_UNREACHABLE',
      `The files of the server were replaced or deleted while it ran, perhaps by an upgrade, so ${model} was not asked (${errorMessageOf(thrown)}). Restart the server: mcp-a2a-bridge server stop. The task goes on with the next one.`,
    );
  const status = statusOf(thrown);
  const facts = { model, ...(status !== undefined && { status: String(status) }) };
  const permanent = (message: string, more: ErrorFacts = {}): ProductError =>
    new ProductError('AGENT_ERROR', message, { facts: { ...facts, ...more } });
  if (hasNoCredit(thrown, status))
    return permanent(
      `${model} refused the request: the account has no credit left, or its spending limit is reached. Add credit or raise the limit at the provider, and send another message in this session.`,
    );
  if (status === 401 || status === 403 || refusesKey(thrown, status))
    return permanent(
      `${model} refused the key (${status}). Check ${keySource} and the permissions of the key.`,
      { [REFUSED]: 'key' },
    );
  const untrusted = certificateFailure(thrown);
  if (untrusted !== undefined) return permanent(`${model} was not asked: ${untrusted}`);
  const said = redact(saidBy(thrown), secrets);
  if (lacksModel(status, said))
    return permanent(
      `${model} refused the request (${status}): ${said}. "mcp-a2a-bridge model list" lists models.`,
      { [REFUSED]: 'model' },
    );
  const passing = isPassing(thrown, status);
  if (status === 413 || CONTEXT_FULL.test(said) || (!passing && TOO_LONG.test(said)))
    return new PromptTooLongError(`${model} refused the request because of its length: ${said}`);
  if (!passing)
    return permanent(
      `${model} ${status === undefined ? 'failed on the request' : `refused the request (${status})`}: ${said}`,
    );
  const waitMs = requestedPauseMs(thrown);
  return new ProductError(
    'AGENT_UNREACHABLE',
    `${model} could not answer${status === undefined ? '' : ` (${status})`}: ${said}.`,
    { facts: { ...facts, ...(waitMs !== undefined && { [RETRY_AFTER_FACT]: String(waitMs) }) } },
  );
}

/** The name of the ProductError fact that says what the provider refused: `key` or `model`. */
const REFUSED = 'refused';

/** Returns the part that the provider refused: the key or the model. Undefined if it refused neither. */
export function refusedKeyOrModel(error: unknown): 'key' | 'model' | undefined {
  const part = error instanceof ProductError ? error.facts[REFUSED] : undefined;
  return part === 'key' || part === 'model' ? part : undefined;
}

/**
 * True if the provider does not know the model. Most providers answer 404. OpenRouter ("is not a valid model ID") and
 * some others answer 400.
 */
function lacksModel(status: number | undefined, said: string): boolean {
  if (status === 404) return /model/i.test(said);
  return status === 400 && /not a valid model|model[^.]*(?:not found|does not exist)/i.test(said);
}

/** Matches the message for a refused key. Google and some other providers send it with status 400. */
const REFUSED_KEY =
  /api[ _]key(?: is)?[ _](?:not valid|invalid|expired|not found)|(?:incorrect|invalid) api key/i;

function refusesKey(thrown: unknown, status: number | undefined): boolean {
  return status === 400 && REFUSED_KEY.test(saidBy(thrown));
}

/**
 * True if the account has no credit. OpenAI sends 429 with `insufficient_quota`, Anthropic 400, other providers 402.
 */
function hasNoCredit(thrown: unknown, status: number | undefined): boolean {
  if (status === 402 || errorNames(thrown).includes('insufficient_quota')) return true;
  return status === 400 && /credit balance is too low/i.test(saidBy(thrown));
}

/**
 * Matches the message for refused reasoning or signatures of earlier turns.
 * - Anthropic: "Invalid `signature` in `thinking` block".
 * - Google: "thought signature".
 * - OpenAI: "encrypted content could not be verified", "Item 'rs_…' of type 'reasoning'".
 * - Endpoints without the field: "property 'reasoning_content' is unsupported".
 */
const REFUSED_STATE = /signature|thinking|thought|reasoning|encrypted/i;

/**
 * True if the provider may accept the conversation without reasoning and signatures. For example, the provider refuses
 * signatures after an account change.
 */
export function refusesReasoningState(thrown: unknown): boolean {
  const status = statusOf(thrown);
  const refused = status === 400 || status === 404 || status === 422;
  return refused && REFUSED_STATE.test(saidBy(thrown));
}

/**
 * Matches the message for a turn whose reasoning is missing.
 * - DeepSeek: "The `reasoning_content` in the thinking mode must be passed back to the API", "Missing `reasoning_content`
 *   field in the assistant message".
 * - Moonshot: "thinking is enabled but reasoning_content is missing in assistant tool call message".
 */
const MISSING_REASONING = /missing\b.*reasoning_content|reasoning_content.*(?:passed back|missing)/i;

/** True if the provider may accept the conversation with reasoning in each turn. */
export function demandsReasoning(thrown: unknown): boolean {
  return statusOf(thrown) === 400 && MISSING_REASONING.test(saidBy(thrown));
}

/**
 * Matches the message for a refused file.
 * - Anthropic: "Could not process image", "image exceeds 5 MB maximum", "The PDF specified was not valid".
 * - OpenAI: "unsupported image".
 * - Google: "Unable to process input image".
 * - llama.cpp: "image input is not supported".
 */
const REFUSED_FILE = /image|pdf|document|media/i;

/** True if the provider may accept the conversation without its files. */
export function refusesFiles(thrown: unknown): boolean {
  const status = statusOf(thrown);
  if (status === 413) return true;
  const refused = status === 400 || status === 415 || status === 422 || status === 500;
  return refused && REFUSED_FILE.test(saidBy(thrown));
}

/**
 * Matches LM Studio's messages about the end of the model's process. An error with such a message has no type and no
 * code. The next request loads the model again.
 *
 * Source: https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1057 and …/1492
 */
const MODEL_ENDED = /model has crashed|model (?:is |was )?unloaded/i;

/** True if a retry may succeed, e.g. after a lost connection or a server error. */
function isPassing(thrown: unknown, status: number | undefined): boolean {
  if (MODEL_ENDED.test(saidBy(thrown))) return true;
  if (thrown instanceof StreamCutOffError) return true;
  if (brokeOff(thrown) || networkFailureCode(thrown) !== undefined) return true;
  if (APICallError.isInstance(thrown) && thrown.isRetryable) return true;
  const names = errorNames(thrown);
  if (names.includes(INVALID_CALL)) return true;
  if (status !== undefined) return RETRIED_STATUSES.has(status) || status >= 500;
  if (names.length > 0) return names.some((name) => PASSING_TYPES.has(name));
  // The AI SDK throws these errors for an invalid stream, and for a stream without a finish reason.
  return InvalidResponseDataError.isInstance(thrown) || JSONParseError.isInstance(thrown);
}

/** Groq's error code, with status 400, for a tool call that Groq cannot parse. A retry usually succeeds. */
const INVALID_CALL = 'tool_use_failed';

/**
 * The names of temporary errors. An error inside a stream has no HTTP status, so its name decides. Anthropic and OpenAI
 * send the name as the type, OpenRouter and Groq as the code.
 */
const PASSING_TYPES = new Set([
  'overloaded_error',
  'api_error',
  'rate_limit_error',
  'rate_limit_exceeded',
  'timeout_error',
  'server_error',
  'internal_server_error',
]);

/** True if the answer began with a success status and then failed. */
function brokeOff(thrown: unknown): boolean {
  return APICallError.isInstance(thrown) && thrown.statusCode !== undefined && thrown.statusCode < 400;
}

/**
 * Returns the code of a failed connection, e.g. ECONNREFUSED, or undefined for other errors. `fetch` throws a TypeError
 * whose `cause` has the code.
 */
function networkFailureCode(thrown: unknown): string | undefined {
  return codesOf(thrown).find((code) => NETWORK_CODE.test(code));
}

function codesOf(thrown: unknown): string[] {
  const codes: string[] = [];
  let error = thrown;
  for (let depth = 0; depth < 8 && error !== undefined; depth += 1) {
    const code = fieldOf(error, 'code');
    if (typeof code === 'string') codes.push(code);
    error = fieldOf(error, 'cause');
  }
  return codes;
}

const CERTIFICATE_ADVICE: Readonly<Record<CertificateRemedy, string>> = {
  'trust-certificate':
    "Set NODE_EXTRA_CA_CERTS in the server's environment to a PEM file with this certificate, and restart the server.",
  'trust-authority':
    "Set NODE_EXTRA_CA_CERTS in the server's environment to a PEM file with the certificate of the authority, and restart the server. A proxy that reads TLS has such an authority too.",
  'other-name': 'Set the base URL of the provider to a host name that the certificate has.',
  renew: "Renew the endpoint's certificate, and check this machine's clock.",
};

/**
 * Returns the message for an untrusted certificate. Such an error is not retried, because the server reads trusted
 * authorities only at its start.
 */
function certificateFailure(thrown: unknown): string | undefined {
  for (const code of codesOf(thrown)) {
    const problem = certificateProblem(code);
    if (problem !== undefined)
      return `the connection is not trusted, because ${problem.cause} (${code}). ${CERTIFICATE_ADVICE[problem.remedy]}`;
  }
  return undefined;
}

function statusOf(thrown: unknown): number | undefined {
  // An error inside a stream is an object. Google writes its status as `code`, OpenAI as `statusCode`, Groq as
  // `status_code`.
  const status = APICallError.isInstance(thrown)
    ? thrown.statusCode
    : (fieldOf(thrown, 'statusCode') ?? fieldOf(thrown, 'status_code') ?? fieldOf(thrown, 'code'));
  return typeof status === 'number' && status >= 400 && status < 600 ? status : undefined;
}

function saidBy(thrown: unknown): string {
  if (JSONParseError.isInstance(thrown) || TypeValidationError.isInstance(thrown))
    return unreadReason(thrown) ?? 'its answer is not in the format of its API';
  if (brokeOff(thrown)) return 'the answer ended early';
  const code = networkFailureCode(thrown);
  if (code !== undefined) return `the connection to it failed (${code})`;
  const message =
    unreadReason(thrown) ?? (thrown instanceof Error ? errorMessageOf(thrown) : fieldOf(thrown, 'message'));
  if (typeof message !== 'string' || message === '') return 'it gave no reason';
  const raw = rawReason(thrown);
  return raw === undefined ? message : `${message}: ${raw}`;
}

function redact(text: string, secrets: readonly string[]): string {
  const clean = secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '[key]'), text);
  return clean.replaceAll(/\s+/g, ' ').slice(0, 500).replace(/\.$/, '');
}
