/**
 * Posts messages to the operator's chat webhooks: about tasks that wait for a person, and about tasks that have ended.
 * Each change of a task's state creates a subscription for each of these webhooks. The subscription lasts until the
 * chat has its message. So the messages survive restarts, and are retried like push notifications. After the message, a
 * task that waits costs nothing.
 */
import { z } from 'zod';
import { CHAT_FORMATS, hasValidChatUrl } from '../../shared/chat/chat-message.ts';
import { isEncryptedOrLocal } from '../../shared/net/loopback.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { sha256 } from '../../shared/runtime/sha256.ts';
import { tenantOf } from '../access/requester.ts';
import type { Journal, TaskRow } from '../journal/journal.ts';
import type { JournalEntry } from '../task/events.ts';
import { taskStateAfter } from '../task/fold.ts';
import type { PushConfigurations } from './push-configurations.ts';
import type { NamedSubscription } from './stored-subscriptions.ts';
import { OPERATOR_PRINCIPAL, subscriptionRecordName } from './push-subscription.ts';

/** The default of `afterSeconds`. In this time, a person can decide in the client that started the task. */
const DEFAULT_AFTER_SECONDS = 30;

export const chatWebhookSchema = z
  .strictObject({
    /** The service that gets the messages. */
    format: z.enum(CHAT_FORMATS),
    /** The URL of the incoming webhook, or of the topic on the ntfy server. */
    url: z.url({ protocol: /^https?$/ }),
    /** The environment variable with the bearer token that posts contain, e.g. of ntfy. */
    tokenEnv: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable')
      .optional(),
    /**
     * The chat gets messages only about the tasks of this tenant. If absent, it gets messages about the tasks of all
     * principals.
     */
    tenant: z.string().min(1).optional(),
    /** How long a task must have waited before the message, in seconds. The end of a task is posted at once. */
    afterSeconds: z.number().min(0).max(86_400).default(DEFAULT_AFTER_SECONDS),
    /** True to allow unencrypted posts over a network. */
    allowHttp: z.boolean().default(false),
  })
  .refine(({ url, allowHttp }) => allowHttp || isEncryptedOrLocal(url), {
    message: 'https, or http on this machine; "allowHttp": true allows http',
    path: ['url'],
  })
  .refine(hasValidChatUrl, {
    message: 'the address of an ntfy topic, such as https://ntfy.sh/my-topic',
    path: ['url'],
  });
export type ChatWebhook = z.infer<typeof chatWebhookSchema>;

/** Returns the subscriptions of a task: one for each webhook that gets messages about it. */
export function chatSubscriptions(
  webhooks: readonly ChatWebhook[],
  { taskId, sessionId, principal, title }: Pick<TaskRow, 'taskId' | 'sessionId' | 'principal' | 'title'>,
  now: number,
): NamedSubscription[] {
  return webhooks
    .filter(({ tenant }) => tenant === undefined || tenant === tenantOf(principal))
    .map((webhook) => {
      const id = webhookId(webhook);
      const { format, url, afterSeconds, tokenEnv } = webhook;
      return [
        subscriptionRecordName(OPERATOR_PRINCIPAL, taskId, id),
        {
          taskId,
          id,
          principal: OPERATOR_PRINCIPAL,
          owner: principal,
          sessionId,
          url,
          token: '',
          authentication: null,
          wire: format,
          chat: { title, afterMs: afterSeconds * 1000, ...(tokenEnv !== undefined && { tokenEnv }) },
          approval: false,
          resumable: false,
          createdAt: now,
          cursor: null,
          delivery: { type: 'active' },
          lease: null,
        },
      ];
    });
}

/** Returns an id that changes with the settings of the webhook. */
function webhookId(webhook: ChatWebhook): string {
  return sha256(JSON.stringify(webhook)).slice(0, 32);
}

interface ChatWebhookParts {
  journal: Pick<Journal, 'row' | 'unsettled' | 'now'>;
  push: Pick<PushConfigurations, 'addForOperator' | 'keepForOperator'>;
  log: Logger;
}

/** Subscribes the webhooks to tasks whose state changes. */
export class ChatWebhookSubscriber {
  readonly #webhooks: readonly ChatWebhook[];
  #parts: ChatWebhookParts | undefined;

  constructor(webhooks: readonly ChatWebhook[]) {
    this.#webhooks = webhooks;
  }

  /**
   * Ends the subscriptions of webhooks that are no longer in the settings. Then subscribes the webhooks to all
   * submitted and working tasks, e.g. to the tasks of a killed server.
   */
  async start(parts: ChatWebhookParts): Promise<void> {
    this.#parts = parts;
    await parts.push.keepForOperator(new Set(this.#webhooks.map(webhookId)));
    if (this.#webhooks.length === 0) return;
    for (const row of await parts.journal.unsettled()) await this.#subscribe(row, parts);
  }

  /** Call this when this server has appended entries to a task. */
  appended(taskId: string, entries: readonly JournalEntry[]): void {
    const parts = this.#parts;
    if (parts === undefined || this.#webhooks.length === 0) return;
    if (taskStateAfter(entries.map(({ event }) => event)) === undefined) return;
    parts.journal
      .row(taskId)
      .then((row) => row && this.#subscribe(row, parts))
      .catch((error: unknown) =>
        parts.log.error({ err: error, taskId }, 'no chat gets messages about a task'),
      );
  }

  async #subscribe(row: TaskRow, { push, journal }: ChatWebhookParts): Promise<void> {
    await push.addForOperator(chatSubscriptions(this.#webhooks, row, journal.now()));
  }
}
