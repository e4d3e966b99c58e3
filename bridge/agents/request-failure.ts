/**
 * Explains a failed request to an agent: what the user can do next, and whether the request can have arrived. The
 * bridge repeats a request that may have arrived only if a second copy is harmless. Pure.
 */
import { z } from 'zod';
import {
  errorMessageOf,
  ProductError,
  ERROR_REASONS,
  type ErrorFacts,
  type ErrorReason,
} from '../../shared/runtime/errors.ts';
import { isConnectFailure } from '../../shared/net/is-connect-failure.ts';
import { collapsedLine } from '../../shared/text/shortened-text.ts';
import {
  HttpError,
  UnreachableEndpointError,
  UntrustedCardError,
  WithheldCredentialsError,
} from './http/request-errors.ts';
import { tlsFailureText } from './http/tls-failure.ts';

/** The maximum length of the agent's own text in an error, in characters. */
const MAX_AGENT_TEXT_CHARACTERS = 300;

/**
 * Whether a failed request reached the agent. `no`: it cannot have arrived. `maybe`: unknown. `refused`: it arrived,
 * and the agent refused it.
 */
type RequestArrival = 'no' | 'maybe' | 'refused';

interface RequestFailure {
  error: ProductError;
  arrival: RequestArrival;
}

/** The reason in this project for each A2A error reason (1.0 §5.4). */
const A2A_REASONS: Readonly<Record<string, ErrorReason>> = {
  TASK_NOT_FOUND: 'UNKNOWN_TASK',
  TASK_NOT_CANCELABLE: 'TASK_ENDED',
  CONTENT_TYPE_NOT_SUPPORTED: 'UNSUPPORTED_CONTENT',
};

const errorInfo = z.object({
  reason: z.string(),
  metadata: z.record(z.string(), z.string()).optional(),
});
/** The message that the SDK sets if an error has none. */
const NO_MESSAGE = 'An unexpected error occurred.';
const a2aError = z.object({
  message: z.string().transform((message) => (message === NO_MESSAGE ? 'it gave no reason.' : message)),
  reason: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  data: z.unknown(),
});
/** Matches an error by its shape, because an error of `fetch` may come from another JavaScript realm. */
const described = z.looseObject({ name: z.string(), cause: z.unknown().optional() });
const withCode = z.object({ code: z.string() });

export function requestFailure(thrown: unknown, agent: string): RequestFailure {
  const chain = chainOf(thrown);
  const elsewhere = chain.find((error) => error instanceof UnreachableEndpointError);
  for (const error of chain) {
    if (error instanceof ProductError) return { error, arrival: 'refused' };
    if (error instanceof HttpError) return httpErrorFailure(error, agent);
    if (error instanceof WithheldCredentialsError) return withheldCredentialsFailure(error, agent);
    if (error instanceof UntrustedCardError) return untrustedCardFailure(error, agent);
    const code = withCode.safeParse(error).data?.code ?? '';
    const distrust = tlsFailureText(code, agent);
    if (distrust !== undefined) return neverArrivedFailure(distrust, error);
    if (isConnectFailure(error))
      return neverArrivedFailure(
        elsewhere === undefined
          ? `Agent "${agent}" cannot be reached (${code}). Check that it runs and that its URL is right, then try again.`
          : `Agent "${agent}" cannot be reached at ${elsewhere.at} (${code}), the address on its agent card. Check that it runs and that this address is right, then try again.`,
        error,
      );
    if (isUnreadableAnswer(error)) return notA2aFailure(error, agent);
    const spoken = a2aErrorFailure(error, agent);
    if (spoken !== undefined) return spoken;
  }
  const { name } = described.safeParse(thrown).data ?? { name: '' };
  if (name === 'TimeoutError') {
    const sentence = `Agent "${agent}" did not answer in time. Check that it runs, then try again.`;
    return unreachableFailure(sentence, { trouble: 'timeout', cause: thrown });
  }
  // `fetch` reports every network failure as a TypeError, so the name is enough.
  if (name === 'TypeError' || name === 'AbortError') {
    const sentence = `The connection to agent "${agent}" broke (${innermostMessage(thrown)}). Try again.`;
    return unreachableFailure(sentence, { trouble: 'network', cause: thrown });
  }
  return notA2aFailure(thrown, agent);
}

function failureOf(
  arrival: RequestArrival,
  reason: ErrorReason,
  sentence: string,
  options: { facts?: ErrorFacts; cause?: unknown },
): RequestFailure {
  return { error: new ProductError(reason, sentence, options), arrival };
}

function notA2aFailure(thrown: unknown, agent: string): RequestFailure {
  const sentence = `Agent "${agent}" answered with something that is not A2A (${collapsedLine(errorMessageOf(thrown), MAX_AGENT_TEXT_CHARACTERS)}). Check that its URL points to an A2A agent.`;
  return failureOf('maybe', 'AGENT_ERROR', sentence, { cause: thrown });
}

/** Every error of the A2A SDK has this symbol, whichever bundle of the SDK created it. */
function isA2AError(error: unknown): error is object {
  return typeof error === 'object' && error !== null && Symbol.for('@a2a-js/sdk.A2AError') in error;
}

/**
 * The error that the SDK throws if it cannot parse an answer of A2A 0.3, such as a message without an id. The agent has
 * answered, so it may have accepted the request. An error from the agent itself has a `transport`.
 */
const unreadableAnswer = z.object({
  reason: z.enum(['INVALID_PARAMS', 'INVALID_AGENT_RESPONSE']),
  transport: z.undefined().optional(),
});

function isUnreadableAnswer(error: unknown): boolean {
  return isA2AError(error) && unreadableAnswer.safeParse(error).success;
}

function a2aErrorFailure(error: unknown, agent: string): RequestFailure | undefined {
  if (!isA2AError(error)) return undefined;
  const { message, reason, metadata, data } = a2aError.parse({
    ...error,
    message: errorMessageOf(error),
    data: 'data' in error ? error.data : undefined,
  });
  const infos = Array.isArray(data) ? data.flatMap((each) => errorInfo.safeParse(each).data ?? []) : [];
  for (const info of [...infos, { reason: reason ?? '', metadata }]) {
    // A2A's reasons are general. The metadata may contain the exact reason, if the agent is this project's server.
    const { reason: ours = '', retryable: _, ...facts } = info.metadata ?? {};
    const own = reasonOf(ours);
    if (own !== undefined) return failureOf('refused', own, message, { facts });
    const known = reasonOf(info.reason);
    if (known !== undefined) {
      const sentence = known === 'UNKNOWN_TASK' ? unknownTaskText(agent, message) : message;
      return failureOf('refused', known, sentence, { facts });
    }
  }
  const sentence = `Agent "${agent}" refused: ${collapsedLine(message, MAX_AGENT_TEXT_CHARACTERS)}`;
  return failureOf('refused', 'AGENT_ERROR', sentence, { facts: metadata ?? {} });
}

/** The message for an agent that no longer knows a task, e.g. because it lost its tasks in a restart. */
function unknownTaskText(agent: string, message: string): string {
  return `Agent "${agent}" does not know this task (${collapsedLine(message, MAX_AGENT_TEXT_CHARACTERS)}). It may have restarted without its tasks. Delegate the remaining work again, without sessionId.`;
}

function reasonOf(word: string): ErrorReason | undefined {
  return isReason(word) ? word : A2A_REASONS[word];
}

function isReason(word: string): word is ErrorReason {
  return ERROR_REASONS.some((reason) => reason === word);
}

/** Marks an error that suggests a wrong address. `Agent` then reads the card again, which may name another address. */
const WRONG_ADDRESS = { trouble: 'address' };

function httpErrorFailure(error: HttpError, agent: string): RequestFailure {
  const said = error.excerpt === '' ? '' : ` It said: ${error.excerpt}`;
  const { status } = error;
  if (status === 401 || status === 403) {
    const sentence = `Agent "${agent}" refused the credentials (HTTP ${String(status)}). Give the bridge the agent's token in its settings, then try again.${said}`;
    return failureOf('refused', status === 401 ? 'UNAUTHENTICATED' : 'FORBIDDEN', sentence, { cause: error });
  }
  if (status >= 500 || status === 429) {
    const sentence = `Agent "${agent}" has a server error (${error.message}). Try again later. If the error stays, read the agent's log.${said}`;
    return unreachableFailure(sentence, { trouble: 'http', cause: error, retryAfter: error.retryAfter });
  }
  // RFC 9110 §15.5.9: with status 408, the server received only a part of the request. Node's HTTP server answers a
  // request that it cannot parse with 400 and no body. In both cases, the agent has done nothing.
  if (status === 408 || (status === 400 && error.excerpt === '')) {
    const sentence = `The connection to agent "${agent}" broke before the whole request had arrived (${error.message}). Try again. If the error stays, check its URL in the bridge's settings.`;
    return { ...unreachableFailure(sentence, { trouble: 'network', cause: error }), arrival: 'refused' };
  }
  if (status >= 300 && status < 400) {
    const sentence = `Agent "${agent}" cannot be used at this address: ${error.message}, and the bridge does not follow that. The operator of the agent must correct the address on the agent card.${said}`;
    // RFC 9110 §15.4.8 and §15.4.9: the client must send the same request again, so the agent has not carried it out.
    const arrival = status === 307 || status === 308 ? 'refused' : 'maybe';
    return failureOf(arrival, 'AGENT_ERROR', sentence, { facts: WRONG_ADDRESS, cause: error });
  }
  const sentence = `Agent "${agent}" does not answer like an A2A agent (${error.message}). Check its URL in the bridge's settings.${said}`;
  const arrival = status >= 400 ? 'refused' : 'maybe';
  return failureOf(arrival, 'AGENT_ERROR', sentence, { facts: WRONG_ADDRESS, cause: error });
}

function neverArrivedFailure(sentence: string, cause: unknown): RequestFailure {
  return { ...unreachableFailure(sentence, { trouble: 'network', cause }), arrival: 'no' };
}

/**
 * Returns the error for an agent that demanded credentials, but received none. The fact `credentials: not-sent` shows
 * that the agent has not refused them.
 */
function withheldCredentialsFailure(error: WithheldCredentialsError, agent: string): RequestFailure {
  const { at, origin } = error;
  const sentence = `Agent "${agent}" wants credentials at ${at}. The bridge did not send them: they go only to the origin of the agent's URL, ${origin}. If the agent's card names the right address, set it as "url" of the agent in "agents" of the bridge's configuration file, and the card's address as "cardUrl".`;
  const facts = { credentials: 'not-sent', at, origin };
  return failureOf('refused', 'UNAUTHENTICATED', sentence, { facts, cause: error });
}

/**
 * Returns the error for a card without a trusted signature. The bridge reads the card before it sends anything else, so
 * no request has arrived.
 */
function untrustedCardFailure(cause: UntrustedCardError, agent: string): RequestFailure {
  const sentence = `Agent "${agent}" is not used: none of the keys in its "cardKeys" has signed its agent card. Only the card was requested. If the agent has a new key, get the public key from its operator and add the file to "cardKeys" in the bridge's configuration file.`;
  return failureOf('no', 'AGENT_ERROR', sentence, { facts: { card: 'not-trusted' }, cause });
}

function unreachableFailure(
  sentence: string,
  {
    trouble,
    cause,
    retryAfter,
  }: { trouble: 'network' | 'timeout' | 'http'; cause: unknown; retryAfter?: string | undefined },
): RequestFailure {
  const facts = { trouble, ...(retryAfter !== undefined && { retryAfter }) };
  return failureOf('maybe', 'AGENT_UNREACHABLE', sentence, { facts, cause });
}

/** Returns the error and its causes, the outermost first. The list is limited, because the causes may form a cycle. */
function chainOf(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let error = thrown; error !== undefined && chain.length < 8;) {
    chain.push(error);
    error = described.safeParse(error).data?.cause;
  }
  return chain;
}

function innermostMessage(thrown: unknown): string {
  return collapsedLine(errorMessageOf(chainOf(thrown).at(-1)), MAX_AGENT_TEXT_CHARACTERS);
}
