/**
 * One push notification configuration of A2A 1.0 (§4.3) or 0.3 (§6.8), with the position of its delivery. The record
 * store keeps it, so delivery continues after a restart. Pure.
 */
import { validateHeaderValue } from 'node:http';
import { z } from 'zod';
import { CHAT_FORMATS } from '../../shared/chat/chat-message.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { sha256 } from '../../shared/runtime/sha256.ts';

/**
 * - `active`: the next event is delivered as soon as it exists.
 * - `retrying`: the last attempt failed. `since` is the time of the first failure since the last success. `at` is the
 *   time of the next attempt.
 * - `dead`: all attempts have failed. The server sends nothing more until an operator retries. `at` is the time of the
 *   last attempt. Old records have no `since`.
 *
 * Times are milliseconds since 1970.
 */
const deliverySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('active') }),
  z.object({
    type: z.literal('retrying'),
    attempts: z.number(),
    since: z.number(),
    at: z.number(),
    problem: z.string(),
  }),
  z.object({
    type: z.literal('dead'),
    since: z.number().optional(),
    at: z.number(),
    problem: z.string(),
  }),
]);
export type PushDeliveryState = z.infer<typeof deliverySchema>;

export const pushSubscriptionSchema = z.object({
  taskId: z.string(),
  id: z.string(),
  /** The principal that created the configuration. Only this principal sees it. */
  principal: z.string(),
  /** The issued token that created the configuration. Absent for other tokens, and in old records. */
  tokenId: z.string().optional(),
  /** Present if a token of the OpenID Connect provider created the configuration. */
  provided: z.literal(true).optional(),
  /**
   * A hash of the principal's configured tokens, or of the provider's settings, at the creation of the configuration.
   * If the present settings give another hash, the server sends nothing more. Absent for issued tokens, for the token
   * in the state directory, for the operator, and in old records.
   */
  mark: z.string().optional(),
  /** The principal that owns the task. The delivery reads the task's events as this principal. */
  owner: z.string(),
  sessionId: z.string(),
  url: z.string(),
  token: z.string(),
  authentication: z.object({ scheme: z.string(), credentials: z.string() }).nullable(),
  /**
   * The A2A version of the request that created the configuration. The bodies have the form of this version. Old
   * records have no version.
   */
  wire: z.enum(['1.0', '0.3', ...CHAT_FORMATS]).default('1.0'),
  /**
   * Present for a webhook of the operator: the first words of the task, how long it must wait before a message, and the
   * environment variable with the token of the chat.
   */
  chat: z.object({ title: z.string(), afterMs: z.number(), tokenEnv: z.string().optional() }).optional(),
  /** The A2A extensions that were active when the configuration was made. They decide the form of the events. */
  approval: z.boolean(),
  resumable: z.boolean(),
  createdAt: z.number(),
  /** The `seq` of the last delivered event. Null until the task itself has been delivered. */
  cursor: z.number().nullable(),
  /**
   * The event counts at `cursor`. The generation of the task (`generation.ts`) is computed from them. Absent in old
   * records and for A2A 0.3.
   */
  counted: z.object({ shown: z.number(), reasoning: z.number() }).optional(),
  delivery: deliverySchema,
  /** The server that delivers now, and the end of its lease. Only servers that share a database need this. */
  lease: z.object({ by: z.string(), until: z.number() }).nullable(),
});
export type PushSubscription = z.infer<typeof pushSubscriptionSchema>;

/** `given-up`: all attempts have failed, so the server sends nothing more. */
export const PUSH_RESULTS = ['delivered', 'failed', 'given-up'] as const;
export type PushResult = (typeof PUSH_RESULTS)[number];

/** The principal of the operator's webhooks. No token can have this name. */
export const OPERATOR_PRINCIPAL = '(operator)';

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 10 * 60_000;
/**
 * The server gives up after this number of failed retries. Their delays take about a day. The server counts retries and
 * not time, because it makes no attempts while the machine sleeps.
 */
const MAX_FAILED_ATTEMPTS = 153;

/** Returns the delivery after a failed attempt. The delays are 1 s, 2 s, 4 s … up to 10 min. */
export function pushDeliveryAfterFailure(
  before: PushDeliveryState,
  problem: string,
  now: number,
): PushDeliveryState {
  const { attempts, since } = before.type === 'retrying' ? before : { attempts: 0, since: now };
  if (attempts >= MAX_FAILED_ATTEMPTS) return { type: 'dead', since, at: now, problem };
  const delay = Math.min(FIRST_DELAY_MS * 2 ** attempts, MAX_DELAY_MS);
  return { type: 'retrying', attempts: attempts + 1, since, at: now + delay, problem };
}

/**
 * Returns the time of the next attempt, or undefined if it may begin now. If the stored time is later than the longest
 * delay allows, the clock was set back. The next attempt may then begin now.
 * @param now in milliseconds since 1970
 */
export function nextPushAttemptTime(delivery: PushDeliveryState, now: number): number | undefined {
  if (delivery.type !== 'retrying') return undefined;
  const delay = delivery.at - now;
  return delay > 0 && delay <= MAX_DELAY_MS ? delivery.at : undefined;
}

/**
 * Returns the name of the subscription's record. It consists of `recordNamePrefixOfTask` and an id. Both are hashes,
 * because a task id and a configuration id may contain any characters.
 */
export function subscriptionRecordName(principal: string, taskId: string, id: string): string {
  return recordNamePrefixOfTask(taskId) + shortHash(principal, taskId, id);
}

/** Returns the prefix of the record names of a task's subscriptions. */
export function recordNamePrefixOfTask(taskId: string): string {
  return shortHash(taskId);
}

/**
 * Returns the part of a record's name that identifies the subscription. It is a hash, and not the id that the client
 * gave.
 */
export function receiverIdInRecordName(name: string): string {
  return name.slice(HASH_LENGTH);
}

/** The number of hexadecimal digits of one hash. The name of a record has two hashes, and at most 64 characters. */
const HASH_LENGTH = 32;

function shortHash(...texts: readonly string[]): string {
  return sha256(JSON.stringify(texts)).slice(0, HASH_LENGTH);
}

/** Returns the headers of a message to a chat. @throws Error if the variable of its token is not set */
export function chatHeaders(
  { chat }: Pick<PushSubscription, 'chat'>,
  env: Environment,
): Record<string, string> {
  const headers = { 'content-type': 'application/json' };
  if (chat?.tokenEnv === undefined) return headers;
  const token = env[chat.tokenEnv];
  if (!token)
    throw new Error(`the environment variable ${chat.tokenEnv} with the token of the chat is not set`);
  return { ...headers, authorization: `Bearer ${token}` };
}

/**
 * Returns the headers of a notification (A2A 1.0 §4.3.3). If the client gave no credentials, the signature is also sent
 * as the bearer token. The sample receivers of the A2A project read it there.
 *
 * A2A 0.3 has the media type `application/json` for all JSON (§3.2).
 */
export function notificationHeaders(
  { token, authentication, wire }: Pick<PushSubscription, 'token' | 'authentication' | 'wire'>,
  signature: string,
): Record<string, string> {
  const { scheme = 'Bearer', credentials = '' } = authentication ?? {};
  const isOurs = credentials === '' && scheme.toLowerCase() === 'bearer';
  return {
    'content-type': wire === '1.0' ? 'application/a2a+json' : 'application/json',
    authorization: `${scheme} ${isOurs ? signature : credentials}`.trim(),
    'x-a2a-notification-signature': signature,
    ...(token !== '' && { 'x-a2a-notification-token': token }),
  };
}

/**
 * Checks that the notifications of a configuration can be sent.
 * @throws ProductError MALFORMED if a header cannot contain the token or the authentication
 */
export function requireSendableHeaders(config: Pick<PushSubscription, 'token' | 'authentication'>): void {
  try {
    for (const [name, value] of Object.entries(notificationHeaders({ ...config, wire: '1.0' }, '')))
      validateHeaderValue(name, value);
  } catch (error) {
    throw new ProductError(
      'MALFORMED',
      'The token or the authentication of the push notification configuration contains a character that an HTTP header cannot contain. Use ASCII characters, on one line.',
      { cause: error },
    );
  }
}
