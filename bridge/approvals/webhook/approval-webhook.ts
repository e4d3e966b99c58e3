/**
 * Posts actions that have waited for `afterSeconds` to the webhook in the settings. Valid decisions in the response
 * count as the decisions of a person.
 */
import { systemClock } from '../../../shared/runtime/clock.ts';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import type { AgentRegistry } from '../../agents/agent-registry.ts';
import type { Outbox } from '../../state/outbox.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { LiveSessions } from '../../sessions/live-sessions.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import { WebhookPosts } from '../../state/webhook-posts.ts';
import type { BridgeDatabase } from '../../state/database.ts';
import { WEBHOOK_TIMINGS } from './post.ts';
import { createWebhookPostFormatter } from './format-post.ts';
import { readWebhookReceiver } from './configured-receiver.ts';
import { type WebhookPostingParts, SessionWebhookPosts } from './session-posts.ts';
import type { WebhookSettings } from '../../settings/webhook-settings.ts';

interface WebhookParts {
  settings: WebhookSettings;
  env: Environment;
  database: BridgeDatabase;
  registry: AgentRegistry;
  outbox: Outbox;
  live: LiveSessions;
  sessions: Pick<Sessions, 'find'>;
  log: Logger;
}

export class ApprovalWebhook {
  readonly #posts = new Map<Session, SessionWebhookPosts>();
  readonly #parts: WebhookPostingParts;

  private constructor(parts: WebhookPostingParts) {
    this.#parts = parts;
  }

  /** Opens the webhook. It watches every session from now on, and continues the posts of bridges that have ended. */
  static async open({
    settings,
    env,
    database,
    registry,
    outbox,
    live,
    sessions,
    log,
  }: WebhookParts): Promise<ApprovalWebhook> {
    const rows = new WebhookPosts(database);
    const webhook = new ApprovalWebhook({
      afterMs: settings.afterSeconds * 1000,
      receiver: () => readWebhookReceiver(settings, env),
      body: createWebhookPostFormatter(settings),
      decides: settings.format === 'json',
      timings: WEBHOOK_TIMINGS,
      rows,
      title: ({ view, agent }) => {
        return view === undefined ? '' : (outbox.findOpenByTask(agent.name, view.taskId)?.title ?? '');
      },
      clock: systemClock,
      log,
    });
    live.onAdded((session) => webhook.#watchSession(session));
    live.onRemoved((session) => webhook.#forgetSession(session));
    for (const marked of await rows.takeOver(registry.all.map(({ name }) => name))) {
      sessions
        .find(marked.sessionId, { agent: marked.agent })
        .then((session) => marked.state === 'asked' && webhook.#watchSession(session).takeOver(marked))
        .catch((error: unknown) => {
          log.debug(
            { sessionId: marked.sessionId, problem: errorMessageOf(error) },
            'a session that was posted',
          );
          rows.release(marked);
        })
        .catch((error: unknown) =>
          log.warn({ sessionId: marked.sessionId, err: error }, 'a post could not be left to another bridge'),
        );
    }
    return webhook;
  }

  /** Posts the session's pending actions immediately. A caller uses this if the client shows the person no forms. */
  postImmediately(session: Session): void {
    this.#watchSession(session).postImmediately();
  }

  close(): void {
    for (const posts of this.#posts.values()) posts.close();
    this.#posts.clear();
  }

  #watchSession(session: Session): SessionWebhookPosts {
    const before = this.#posts.get(session);
    if (before !== undefined) return before;
    const posts = new SessionWebhookPosts(session, this.#parts);
    this.#posts.set(session, posts);
    return posts;
  }

  #forgetSession(session: Session): void {
    this.#posts.get(session)?.close();
    this.#posts.delete(session);
  }
}
