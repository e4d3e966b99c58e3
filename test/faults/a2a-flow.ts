/** A delegation by an A2A client. It sends the same message again until it gets an answer (B1, R27). */
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import { decisionsPart, writtenMessage } from '../support/a2a-message.ts';
import { readEvent, readTask, type TaskView } from '../support/wire-event.ts';
import { z } from 'zod';
import type { A2aClient } from './a2a-client.ts';
import { must } from './findings.ts';
import type { Flow } from './flow.ts';
import type { Random } from './random.ts';
import type { Verdicts } from './verdicts.ts';
import type { Workload } from './workload.ts';

const sent = z.object({ task: z.unknown().transform(readTask) });

/** A message that the flow sends until the server answers, with the decisions that it contains. */
interface Outgoing {
  messageId: string;
  message: object;
  decisions: { callId: string; decision: string }[];
}

const ENDED = ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'];

export class A2aFlow implements Flow {
  readonly workload: Workload;
  readonly asks: boolean;
  readonly exact = true;
  readonly accepted: { callId: string; decision: string }[] = [];
  taskId: string | undefined;
  done = false;
  readonly #random: Random;
  readonly #verdicts: Verdicts;
  #outgoing: Outgoing | undefined;
  #sent = 0;

  constructor(parts: { workload: Workload; workspace: string; random: Random; verdicts: Verdicts }) {
    const { workload, workspace, random, verdicts } = parts;
    this.workload = workload;
    this.#random = random;
    this.#verdicts = verdicts;
    this.asks = !random.chance(0.15);
    const settings = { workspace, ...(!this.asks && { autoExecute: true }) };
    this.#put(workload.text, { settings }, []);
  }

  async step(client: A2aClient): Promise<void> {
    if (this.#outgoing !== undefined) return this.#send(client, this.#outgoing);
    const { taskId } = this;
    must(taskId !== undefined, 'the first message was accepted, but the server named no task');
    const task = readTask(await client.call('GetTask', { id: taskId }));
    if (ENDED.includes(task.state)) this.#end(task);
    else if (task.pending.length > 0) this.#decide(task.pending);
    else await this.#wait(client, task);
  }

  #end({ state, statusText }: TaskView): void {
    must(state === 'COMPLETED', `the task ended as ${state}: ${statusText}`);
    this.done = true;
  }

  /** Decides all pending actions or, by chance, only the first. */
  #decide(pending: readonly PendingAction[]): void {
    const chosen = this.#random.chance(0.3) ? pending.slice(0, 1) : pending;
    const decisions = chosen.map((action) => ({
      callId: action.callId,
      ...this.#verdicts.on(action),
      shown: action.shown,
    }));
    this.#put([decisionsPart(decisions)], { taskId: this.taskId ?? '' }, decisions);
  }

  #put(
    parts: string | readonly unknown[],
    addressed: Parameters<typeof writtenMessage>[1],
    decisions: Outgoing['decisions'],
  ): void {
    const messageId = `${this.workload.name}-m${++this.#sent}`;
    this.#outgoing = { messageId, message: writtenMessage(parts, { ...addressed, messageId }), decisions };
  }

  async #send(client: A2aClient, outgoing: Outgoing): Promise<void> {
    const { message } = outgoing;
    const returnImmediately = this.#random.chance(0.5);
    if (this.#random.chance(0.5)) {
      const result = await client.call('SendMessage', { message, configuration: { returnImmediately } });
      this.#heard(outgoing, sent.parse(result).task.taskId);
      return;
    }
    // E3: the first frame shows that the server accepted the message.
    for await (const { data, text } of client.stream('SendStreamingMessage', { message }))
      this.#heard(outgoing, readEvent(data, text).taskId);
  }

  #heard(outgoing: Outgoing, taskId: string): void {
    must(
      this.taskId === undefined || this.taskId === taskId,
      `message ${outgoing.messageId} was answered with task ${taskId}, before with ${this.taskId}`,
    );
    this.taskId = taskId;
    if (this.#outgoing !== outgoing) return;
    this.accepted.push(...outgoing.decisions);
    this.#outgoing = undefined;
  }

  /** Reads the stream until the task waits or ends. */
  async #wait(client: A2aClient, { taskId, seq }: TaskView): Promise<void> {
    for await (const { data, text } of client.subscribe(taskId, { lastEventId: String(seq) })) {
      const event = readEvent(data, text);
      if (event.pending.length > 0) return;
    }
  }
}
