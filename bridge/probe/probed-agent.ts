/** The agent under test, with the requests of the checks. Counts the tasks that the checks start. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { type Caller, type Frame, NoAnswer } from './json-rpc-client.ts';
import { TaskContent } from './task-content.ts';

export interface ProbedAgentOptions {
  client: Caller;
  /** The text of a task that works about a second, produces output meanwhile, and needs no decision. */
  text: string;
  /** Kills the agent's process without a warning and starts it again. */
  restart?: (() => Promise<void>) | undefined;
  signal: AbortSignal;
}

/** The largest number of messages that a probe sends. Each may start a task. */
export const MAX_MESSAGES = 40;

const taskAnswer = z.object({ task: z.unknown() });

/** A task that is still working after this time counts as stuck, in milliseconds. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 100;

export class ProbedAgent {
  readonly client: Caller;
  readonly text: string;
  readonly restart: (() => Promise<void>) | undefined;
  readonly #signal: AbortSignal;
  #messages = 0;

  constructor({ client, text, restart, signal }: ProbedAgentOptions) {
    this.client = client;
    this.text = text;
    this.restart = restart;
    this.#signal = signal;
  }

  /** The number of messages sent so far. */
  get messages(): number {
    return this.#messages;
  }

  message(messageId: string = randomUUID(), text = this.text): object {
    return { message: { messageId, role: 'ROLE_USER', parts: [{ text }] } };
  }

  /** Sends a message and waits. @returns the task in the answer */
  async send(params: object): Promise<TaskContent> {
    this.#count();
    const answer = taskAnswer.parse(await this.client.call('SendMessage', params));
    if (answer.task === undefined) throw new NoAnswer('the agent answers with a message, and starts no task');
    return TaskContent.ofTask(answer.task);
  }

  begin(params: object = this.message()): AsyncGenerator<Frame, void, undefined> {
    this.#count();
    return this.client.stream('SendStreamingMessage', params);
  }

  subscribe(taskId: string, lastEventId?: string): AsyncGenerator<Frame, void, undefined> {
    return this.client.stream(
      'SubscribeToTask',
      { id: taskId },
      lastEventId === undefined ? {} : { lastEventId },
    );
  }

  async task(taskId: string): Promise<TaskContent> {
    return TaskContent.ofTask(await this.client.call('GetTask', { id: taskId }));
  }

  /**
   * Waits until the task ends or waits.
   * @returns undefined if it never does
   */
  async settled(taskId: string): Promise<TaskContent | undefined> {
    for (
      const deadline = performance.now() + PATIENCE_MS;
      performance.now() < deadline && !this.#signal.aborted;
      await pause(LOOK_MS)
    ) {
      const view = await this.task(taskId);
      if (view.settled) return view;
    }
    return undefined;
  }

  /** Runs a task to its end. @returns its id and the frames of its stream */
  async whole(): Promise<{ frames: Frame[]; taskId: string }> {
    const frames: Frame[] = [];
    const view = new TaskContent();
    for await (const frame of this.begin()) {
      view.take(frame.data);
      frames.push(frame);
    }
    return { frames, taskId: view.taskId ?? '' };
  }

  /** @throws NoAnswer if the checks may send no more messages */
  #count(): void {
    if (this.#messages >= MAX_MESSAGES)
      throw new NoAnswer(`the limit of ${MAX_MESSAGES} messages is reached`);
    this.#messages += 1;
  }
}
