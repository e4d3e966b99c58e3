/**
 * Checks the secret and the headers of the approval webhook. Sends a request to the webhook only if the person asks for
 * it.
 */
import { randomUUID } from 'node:crypto';
import { type CheckResult, checkResults } from '../../../shared/runtime/check-result.ts';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { readWebhookReceiver } from '../../approvals/webhook/configured-receiver.ts';
import { createWebhookPostFormatter } from '../../approvals/webhook/format-post.ts';
import { WEBHOOK_TIMINGS, sendWebhookPost } from '../../approvals/webhook/post.ts';
import type { WebhookSettings } from '../../settings/webhook-settings.ts';

const results = checkResults('approval webhook');
/** The result if the person asks for a test post and the settings name no webhook. */
export const NO_WEBHOOK = results.warn(
  'the settings name none, so no test post was sent',
  'Set "approvalWebhook" in the section "bridge" of the configuration file.',
);
const ONCE = { backOff: { ...WEBHOOK_TIMINGS.backOff, retries: 0 }, answerMs: 10_000 };

/** @param posts true to send a signed test post, which asks for no decision */
export async function checkApprovalWebhook(
  settings: WebhookSettings,
  env: Environment,
  posts: boolean,
): Promise<CheckResult> {
  const { origin } = new URL(settings.url);
  // Only the origin of the URL is shown, because its path may be a secret.
  const to = `${origin}, gets what has waited for ${String(settings.afterSeconds)} s`;
  const { secretCommand, tokenCommand } = settings;
  if (!posts && (secretCommand ?? tokenCommand) !== undefined)
    return results.ok(`${to}; not tried (--webhook runs its command and sends a test post)`);
  try {
    const receiver = await readWebhookReceiver(settings, env);
    if (!posts) return results.ok(`${to}; not tried (--webhook sends a test post)`);
    const notice = { type: 'approval.test' as const, timestamp: new Date().toISOString(), data: {} };
    const message = { title: 'A test of the approval webhook', lines: ['Nothing waits.'], page: undefined };
    const { signal } = new AbortController();
    await sendWebhookPost(
      { id: randomUUID(), body: createWebhookPostFormatter(settings)({ notice, message }), signal },
      () => Promise.resolve(receiver),
      ONCE,
    );
    return results.ok(`${to}; it took the test post`);
  } catch (error) {
    return results.fail(
      `${to}: ${errorMessageOf(error)}`,
      'Correct "approvalWebhook" in the settings, or its receiver.',
    );
  }
}
