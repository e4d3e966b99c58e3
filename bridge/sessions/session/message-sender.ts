/**
 * Sends the messages of one session: work, answers and decisions. Before a message leaves, it must pass three checks.
 * D1: no answer to the same question is on its way. D2: the files are as the person saw them. E2: no other message
 * decides the same calls. Some agents make none of these checks.
 */
import type { Message } from '@a2a-js/sdk';
import type { BackOffOptions } from '../../../shared/runtime/back-off.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Agent } from '../../agents/agent.ts';
import type { AgentCardFacts } from '../../agents/card.ts';
import type { A2aConnection } from '../../agents/connection.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { decidedCalls, type SentDecisions } from './claim-decisions.ts';
import { findOutdatedDiff, outdatedDiffError } from './outdated-diff.ts';
import { type AcknowledgedMessage, sendUntilAcknowledged, type DeliveryWithdrawal } from './send-message.ts';
import { bridgeObservation, type SessionEvent, type SessionTaskState } from './session-state.ts';

/** Builds a message. The bridge may send it again, so every call must return the same message. */
export type BuildMessage = (dialect: Dialect, card: AgentCardFacts) => Message;

export interface DeliveryOptions {
  /** The id of the question that the message answers. */
  answers?: string | undefined;
  /** Present if the message delegates work. */
  withdrawal?: DeliveryWithdrawal;
  /** True if an earlier series of attempts may have delivered the message. */
  resumed?: boolean;
}

/** The parts of the session that the sender uses. */
interface SendingSession {
  agent: Agent;
  decisions: SentDecisions;
  backOff: BackOffOptions;
  signal: AbortSignal;
  task: () => SessionTaskState | null;
  /** Reads a file of the agent with this URL. Returns the same values as `ReadFile` (`outdated-diff.ts`). */
  readFile: (url: string, path: string) => Promise<string | undefined>;
  /** Applies an event to the state of the session. Tells no listener. */
  change: (event: SessionEvent) => void;
  /** Applies an event to the state of the session, and tells the listeners if the state has changed. */
  apply: (event: SessionEvent) => void;
  /** Starts to read the agent's response. */
  begin: (acknowledged: AcknowledgedMessage) => void;
}

export class MessageSender {
  readonly #for: SendingSession;
  /** The code of the question that was answered last. */
  #answeredCode: string | undefined;
  /** The number of answers that are on their way to the agent. */
  #answers = 0;
  #problem: string | undefined;

  constructor(session: SendingSession) {
    this.#for = session;
  }

  /** True while an answer to a question is on its way to the agent. */
  get isAnswering(): boolean {
    return this.#answers > 0;
  }

  /** Why the last attempt to send a message failed. Undefined if no message waits for its next attempt. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Sends a message. See `Session.deliver`. */
  async send(write: BuildMessage, { answers, withdrawal, resumed }: DeliveryOptions): Promise<void> {
    const { agent, decisions, backOff, signal, task, change, apply, begin } = this.#for;
    this.#refuseSecondAnswer(answers);
    const before = task();
    change({ type: 'sending', answers, delegates: withdrawal !== undefined });
    const during = task();
    let messageId = '';
    let decided: readonly string[] = [];
    if (answers !== undefined) this.#answers += 1;
    try {
      const acknowledged = await sendUntilAcknowledged({
        agent,
        write: async (connection) => {
          const message = write(connection.dialect, connection.facts);
          messageId = message.messageId;
          await this.#checkFiles(message, connection);
          decided = await this.#claim(message, connection);
          // D2: the agent may have asked something else during these checks. Then this second call of `write` throws.
          return decided.length === 0 ? message : write(connection.dialect, connection.facts);
        },
        backOff,
        signal,
        withdrawal,
        resumed,
        onDelivery: (delivery) => {
          this.#problem = delivery.type === 'retrying' ? delivery.reason : undefined;
          apply({ type: 'delivery', delivery });
        },
      });
      // Some agents do not confirm a decision, but only stop listing the call. So the bridge itself records the
      // decision.
      const view = task()?.view;
      if (view !== undefined && decided.length > 0)
        change(bridgeObservation({ type: 'decided', callIds: decided }, view));
      // The first event of the response is applied before `delivered`. Otherwise the session would show its earlier
      // task in between.
      begin(acknowledged);
      apply({ type: 'delivered' });
    } catch (thrown) {
      const error = agent.failed(thrown);
      await decisions.failed(messageId, error.facts['arrived'] === 'no' ? 'no' : 'unknown');
      apply({ type: 'undelivered', error, before, during });
      throw thrown;
    } finally {
      this.#problem = undefined;
      if (answers !== undefined) this.#answers -= 1;
    }
  }

  /**
   * Throws if this bridge has sent an answer to the question, and the agent still works on it. D1: the first valid
   * decision wins. The agent would take a second answer for the answer to its next question. If the agent stops and
   * asks the same question again, the task waits, and the question can be answered again.
   * @param answers the id of the question; undefined if the message answers none
   */
  #refuseSecondAnswer(answers: string | undefined): void {
    const task = this.#for.task();
    const question = task?.view.question;
    if (answers === undefined || question?.id !== answers) return;
    const isAnswered = task?.type === 'working' && task.answered.has(answers);
    if (isAnswered && this.#answeredCode === question.shown)
      throw new ProductError(
        'ALREADY_DECIDED',
        'An answer to this question has been sent before, so nothing was sent. Look with wait_for_task.',
        { facts: { callId: answers } },
      );
    this.#answeredCode = question.shown;
  }

  /**
   * Checks that files still have the content that the person saw. D2: a decision is valid only for what the person saw,
   * and some agents do not check this. If a file has changed, the person must decide again, with a new diff.
   * @throws ProductError INPUT_CHANGED. Nothing is sent then.
   */
  async #checkFiles({ parts }: Message, { url, dialect: { hazards } }: A2aConnection): Promise<void> {
    const { task, readFile, apply } = this.#for;
    const approved = hazards.approvedBy?.(parts) ?? [];
    const view = task()?.view;
    if (view === undefined || approved.length === 0) return;
    const found = await findOutdatedDiff(approved, view, (path) => readFile(url, path));
    if (found === undefined) return;
    apply(bridgeObservation({ type: 'outdated', ...found }, task()?.view ?? view));
    throw outdatedDiffError(found);
  }

  /**
   * Claims the calls that the message decides, because some agents would run a call once per approval.
   * @returns the ids of these calls
   * @throws ProductError ALREADY_DECIDED
   */
  async #claim(
    { messageId, taskId, parts }: Message,
    { url, dialect: { hazards } }: A2aConnection,
  ): Promise<readonly string[]> {
    const { decisions, task } = this.#for;
    const decided = hazards.decidedBy?.(parts) ?? [];
    await decisions.claim(messageId, decidedCalls(decided, task()?.view), { agent: url, taskId });
    return decided;
  }
}
