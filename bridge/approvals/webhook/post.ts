/**
 * Sends one post, and retries until the receiver accepts or refuses it. The duration, the response size and the number
 * of attempts are limited.
 */
import pRetry, { AbortError } from 'p-retry';
import { onAbort } from '../../../shared/runtime/abort.ts';
import { readBoundedBytes } from '../../../shared/net/bounded-body.ts';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import type { BackOffOptions } from '../../../shared/runtime/back-off.ts';
import { signatureHeaders } from './signature.ts';
import { parseWebhookAnswer, type WebhookAnswer } from './webhook-answer.ts';

/**
 * Where a post is sent: URL, signing secret and headers. They are read again for each attempt, because a token may have
 * changed.
 */
export interface WebhookReceiver {
  url: string;
  /** The secret that signs the post. Undefined if the receiver checks no signature. */
  secret: string | undefined;
  headers: Readonly<Record<string, string>>;
}

export interface WebhookTimings {
  backOff: BackOffOptions;
  /** The maximum duration of one attempt. */
  answerMs: number;
}

/** The delays are at least 1 s, 2 s, 4 s … up to 2 min. All retries together take at least four minutes. */
export const WEBHOOK_TIMINGS: WebhookTimings = {
  backOff: { retries: 8, minTimeout: 1_000, maxTimeout: 120_000, factor: 2, randomize: true },
  answerMs: 30_000,
};

const MAX_ANSWER_BYTES = 1024 * 1024;

interface WebhookPost {
  id: string;
  body: string;
  signal: AbortSignal;
}

export type DeliveredPostAnswer = Exclude<WebhookAnswer, { type: 'troubled' | 'refused' }>;

/**
 * Sends one post, with retries, and returns the receiver's answer.
 * @throws Error that says why the receiver did not accept the post. The message never contains the post.
 */
export function sendWebhookPost(
  { id, body, signal }: WebhookPost,
  receiver: () => Promise<WebhookReceiver>,
  { backOff, answerMs }: WebhookTimings,
): Promise<DeliveredPostAnswer> {
  return pRetry(
    async () => {
      const to = await receiver().catch((error: unknown) => {
        // A missing secret is not retried, because it would still be missing.
        throw new AbortError(errorMessageOf(error));
      });
      const answer = await postOnce({ id, body, signal }, to, answerMs);
      if (answer.type === 'troubled') throw new Error(answer.problem);
      if (answer.type === 'refused') throw new AbortError(answer.problem);
      return answer;
    },
    { ...backOff, signal },
  );
}

async function postOnce(
  { id, body, signal }: WebhookPost,
  to: WebhookReceiver,
  answerMs: number,
): Promise<WebhookAnswer> {
  const call = new AbortController();
  const timer = setTimeout(() => call.abort(new DOMException('It took too long', 'TimeoutError')), answerMs);
  const stop = onAbort(signal, () => call.abort(signal.reason));
  try {
    const timestamp = Math.floor(Date.now() / 1000);
    const signed = to.secret === undefined ? {} : signatureHeaders({ id, timestamp, body }, to.secret);
    const response = await fetch(to.url, {
      method: 'POST',
      headers: { ...to.headers, 'content-type': 'application/json', accept: 'application/json', ...signed },
      body,
      // Redirects are not followed, because no other URL may receive the post.
      redirect: 'manual',
      signal: call.signal,
    });
    const bytes =
      response.body === null ? new Uint8Array() : await readBoundedBytes(response.body, MAX_ANSWER_BYTES);
    return parseWebhookAnswer({
      status: response.status,
      contentType: response.headers.get('content-type') ?? '',
      body: new TextDecoder().decode(bytes),
    });
  } catch (error) {
    return { type: 'troubled', problem: causeMessage(error) };
  } finally {
    clearTimeout(timer);
    stop();
  }
}

/** Returns the message of the error's cause, because `fetch` itself says only "fetch failed". */
function causeMessage(error: unknown): string {
  return error instanceof Error && error.cause !== undefined
    ? errorMessageOf(error.cause)
    : errorMessageOf(error);
}
