/**
 * Posts the pending requests of one session after a delay, and posts again when they are decided. Sends the decisions
 * in the receiver's response to the agent.
 *
 * Invariants
 * - D1: the first valid decision wins. The webhook is only one of several ways to decide. The agent's journal
 *   determines which decision was first.
 * - D2: a decision is valid only for what the person saw. It must contain the code of what was posted.
 * - Each request is posted by one bridge only (`webhook-posts.ts`). That bridge first asks the agent whether the
 *   request still waits.
 */
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { refuseIncompletePreviews } from '../refuse-incomplete-previews.ts';
import { sendDecisions } from '../send-decisions.ts';
import { taskPageUrl } from '../ways-to-decide.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';
import {
  type ApprovalRequestId,
  approvalRequestKey,
  approvalRequestIdsOf,
  webhookPostId,
} from './list-approval-requests.ts';
import type { WebhookAction, WebhookPostState, WebhookPosts } from '../../state/webhook-posts.ts';
import {
  type WebhookNoticeSubject,
  approvalRequestNotice,
  approvalDecidedNotice,
  postedActions,
} from './notice.ts';
import { approvalRequestMessage, approvalDecidedMessage } from './chat-message.ts';
import type { NoticeAndMessage } from './format-post.ts';
import {
  type DeliveredPostAnswer,
  type WebhookTimings,
  sendWebhookPost,
  type WebhookReceiver,
} from './post.ts';
import { parsePostedDecisions } from './webhook-answer.ts';

/** The delay in milliseconds before the bridge asks an unreachable agent again. */
const RETRY_MS = 30_000;

export interface WebhookPostingParts {
  /** How long an action must have waited before the bridge posts it, in milliseconds. */
  afterMs: number;
  receiver: () => Promise<WebhookReceiver>;
  body: (content: NoticeAndMessage) => string;
  /** False if the receiver is a chat. The response of a chat decides nothing. */
  decides: boolean;
  timings: WebhookTimings;
  rows: WebhookPosts;
  title: (session: Session) => string;
  clock: Clock;
  log: Logger;
}

interface UnderWay {
  keys: readonly string[];
  call: AbortController;
}

/** The actions and questions that a post lists. The receiver's response can decide only these. */
interface PostedRequests {
  actions: ReturnType<typeof postedActions>;
  requests: readonly ApprovalRequestId[];
}

function requestsToPost({ pending, question }: TaskView): PostedRequests {
  const actions = postedActions(pending);
  const asked = question === null ? [] : [{ callId: question.id, shown: question.shown }];
  return { actions, requests: [...actions.map(({ callId, shown }) => ({ callId, shown })), ...asked] };
}

export class SessionWebhookPosts {
  readonly #session: Session;
  readonly #parts: WebhookPostingParts;
  /** The time at which this bridge first saw each request, as `Clock.elapsed` gives it, by request key. */
  readonly #since = new Map<string, number>();
  /** The keys of requests that this or another bridge has posted, or is posting. */
  readonly #taken = new Set<string>();
  /** The requests that this bridge posts, or continues for another bridge, and that still wait. By request key. */
  readonly #asked = new Map<string, WebhookAction>();
  readonly #underWay = new Set<UnderWay>();
  #cancelScheduledPost: (() => void) | undefined;
  #stopReading: (() => void) | undefined;

  constructor(session: Session, parts: WebhookPostingParts) {
    this.#session = session;
    this.#parts = parts;
    session.listen((change) => {
      if (change.type === 'state') this.#updateRequests();
    });
    this.#updateRequests();
  }

  /** Posts all requests without the delay. The caller knows that no form reaches the person. */
  postImmediately(): void {
    for (const key of this.#since.keys()) this.#since.set(key, Number.NEGATIVE_INFINITY);
    this.#schedulePost();
  }

  takeOver(marked: WebhookAction): void {
    const key = approvalRequestKey(marked);
    this.#taken.add(key);
    this.#asked.set(key, marked);
    this.#stopReading ??= this.#session.watch();
    this.#updateRequests();
  }

  close(): void {
    this.#cancelScheduledPost?.();
    this.#stopReading?.();
    for (const { call } of this.#underWay) call.abort();
  }

  #updateRequests(): void {
    const waiting = this.#waitingRequestIds();
    const keys = new Set(waiting.map(approvalRequestKey));
    for (const key of this.#since.keys()) if (!keys.has(key)) this.#since.delete(key);
    for (const key of keys) if (!this.#since.has(key)) this.#since.set(key, this.#parts.clock.elapsed());
    const over = [...this.#asked].filter(([key]) => !keys.has(key));
    if (over.length > 0) this.#endRequests(over);
    this.#schedulePost();
  }

  #waitingRequestIds(): readonly ApprovalRequestId[] {
    return approvalRequestIdsOf(this.#session.view, this.#session.settled);
  }

  #schedulePost(): void {
    this.#cancelScheduledPost?.();
    this.#cancelScheduledPost = undefined;
    const due = [...this.#since].filter(([key]) => !this.#taken.has(key)).map(([, since]) => since);
    if (due.length === 0) return;
    const { clock, afterMs } = this.#parts;
    this.#postIn(Math.max(0, Math.min(...due) + afterMs - clock.elapsed()));
  }

  #postIn(ms: number): void {
    const { clock, log } = this.#parts;
    this.#cancelScheduledPost?.();
    this.#cancelScheduledPost = clock.after(ms, () => {
      this.#cancelScheduledPost = undefined;
      this.#postNewRequests().catch((error: unknown) =>
        log.warn(
          { sessionId: this.#session.id, err: error },
          'the pending actions could not be posted to the webhook',
        ),
      );
    });
  }

  async #postNewRequests(): Promise<void> {
    const session = this.#session;
    const { rows, log } = this.#parts;
    try {
      await session.refresh();
    } catch (error) {
      log.debug(
        { sessionId: session.id, problem: errorMessageOf(error) },
        'the agent did not answer, so the post is delayed',
      );
      this.#postIn(RETRY_MS);
      return;
    }
    const mine: WebhookAction[] = [];
    const { view } = session;
    const waiting = this.#waitingRequestIds().filter((each) => !this.#taken.has(approvalRequestKey(each)));
    for (const each of waiting) this.#taken.add(approvalRequestKey(each));
    for (const each of waiting) {
      const { id: sessionId, agent } = session;
      const posted = { agent: agent.name, sessionId, taskId: view?.taskId ?? '', ...each };
      try {
        if (await rows.take(posted)) mine.push(posted);
      } catch (error) {
        this.#taken.delete(approvalRequestKey(each));
        this.#postIn(RETRY_MS);
        log.warn({ sessionId, err: error }, 'a pending action could not be recorded, so its post is delayed');
      }
    }
    if (mine.length > 0) await this.#postRequests(mine);
  }

  async #postRequests(mine: readonly WebhookAction[]): Promise<void> {
    const session = this.#session;
    const { clock, log } = this.#parts;
    const about = this.#noticeSubject();
    const { view } = session;
    const keys = new Set(this.#waitingRequestIds().map(approvalRequestKey));
    const asked = mine.filter((each) => keys.has(approvalRequestKey(each)));
    for (const each of asked) this.#asked.set(approvalRequestKey(each), each);
    // A request that was decided meanwhile is not posted.
    for (const each of mine) if (!asked.includes(each)) this.#storeState(each, 'over');
    if (view === undefined || asked.length === 0) return;
    this.#stopReading ??= session.watch();
    const id = webhookPostId({ agent: about.agent, taskId: view.taskId }, asked, 'asked');
    const under = { keys: asked.map(approvalRequestKey), call: new AbortController() };
    const posted = requestsToPost(view);
    this.#underWay.add(under);
    try {
      const content = {
        notice: approvalRequestNotice(about, view, clock.now()),
        message: approvalRequestMessage(about, view, taskPageUrl(session)),
      };
      const answer = await this.#deliver(id, content, under.call.signal);
      for (const each of asked)
        if (this.#asked.has(approvalRequestKey(each))) this.#storeState(each, 'asked');
      log.info(
        { sessionId: session.id, id, answer: answer.type },
        'the pending actions were posted to the webhook',
      );
      await this.#handleAnswer(answer, posted);
    } catch (error) {
      if (under.call.signal.aborted) return;
      // The row stays in the database, so the next bridge posts the request again.
      for (const key of under.keys) this.#asked.delete(key);
      log.warn(
        { sessionId: session.id, id, problem: errorMessageOf(error) },
        'the pending actions could not be posted to the webhook',
      );
    } finally {
      this.#underWay.delete(under);
      this.#stopIfNothingWaits();
    }
  }

  async #handleAnswer(answer: DeliveredPostAnswer, { actions, requests }: PostedRequests): Promise<void> {
    const session = this.#session;
    const { log } = this.#parts;
    if (answer.type === 'later') return;
    try {
      if (answer.type === 'malformed') throw new Error(answer.problem);
      refuseIncompletePreviews(actions, answer.decisions);
      const decisions = parsePostedDecisions(answer.decisions, requests);
      await sendDecisions(session, decisions, 'webhook');
    } catch (error) {
      const late = error instanceof ProductError && error.reason === 'ALREADY_DECIDED';
      log[late ? 'info' : 'warn'](
        { sessionId: session.id, problem: errorMessageOf(error) },
        'the response of the webhook decided nothing',
      );
    }
  }

  /** Processes requests that no longer wait: aborts their unfinished posts, and posts their decisions. */
  #endRequests(over: readonly (readonly [string, WebhookAction])[]): void {
    const { log, clock } = this.#parts;
    for (const [key] of over) this.#asked.delete(key);
    for (const { keys, call } of this.#underWay)
      if (keys.every((key) => !this.#asked.has(key))) call.abort(new Error('It has been decided.'));
    this.#stopIfNothingWaits();
    const askings = over.map(([, marked]) => marked);
    const [first] = askings;
    if (first === undefined) return;
    const tell = async (): Promise<void> => {
      for (const each of askings) this.#storeState(each, 'over');
      const { view, stateName: state } = this.#session;
      const about = this.#noticeSubject();
      const facts = { view, state, over: askings, waiting: this.#waitingRequestIds() };
      const content = {
        notice: approvalDecidedNotice(about, facts, clock.now()),
        message: approvalDecidedMessage(about, facts, taskPageUrl(this.#session)),
      };
      const under = { keys: [], call: new AbortController() };
      await this.#deliver(webhookPostId(first, askings, 'decided'), content, under.call.signal);
    };
    tell().catch((error: unknown) =>
      log.warn(
        { sessionId: this.#session.id, problem: errorMessageOf(error) },
        'the end of pending actions could not be posted to the webhook',
      ),
    );
  }

  #storeState(about: WebhookAction, state: WebhookPostState): void {
    this.#parts.rows.set(about, state);
  }

  async #deliver(id: string, content: NoticeAndMessage, signal: AbortSignal): Promise<DeliveredPostAnswer> {
    const { receiver, timings, body, decides } = this.#parts;
    const answer = await sendWebhookPost({ id, body: body(content), signal }, receiver, timings);
    return decides ? answer : { type: 'later' };
  }

  #noticeSubject(): WebhookNoticeSubject {
    const { id, agent } = this.#session;
    return { sessionId: id, agent: agent.name, title: this.#parts.title(this.#session) };
  }

  /**
   * Stops watching the session if none of its posts waits for a decision. The bridge then needs no open stream and no
   * polling for a task that waits.
   */
  #stopIfNothingWaits(): void {
    if (this.#asked.size > 0) return;
    this.#stopReading?.();
    this.#stopReading = undefined;
  }
}
