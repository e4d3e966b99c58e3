/** The agent under test, with the requests that the checks need. Counts the messages that the checks send. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { type Caller, type Frame, NoAnswer } from './json-rpc-client.ts';
import { TaskContent } from './task-content.ts';

export interface ProbedAgentOptions {
  client: Caller;
  /**
   * The text of a task. The agent should work on it for about a second, produce output meanwhile, and need no decision.
   */
  text: string;
  /** Kills the agent's process without a warning, and starts it again. Absent if the probe cannot do that. */
  restart?: (() => Promise<void>) | undefined;
  signal: AbortSignal;
}

/** The maximum number of messages that a probe sends. Each message may start a task. */
export const MAX_MESSAGES = 40;

const taskAnswer = z.object({ task: z.unknown() });

/** The time in milliseconds after which a task that still works counts as stuck. */
const STUCK_AFTER_MS = 30_000;
const POLL_MS = 100;

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

  /** The number of messages that were sent so far. */
  get messages(): number {
    return this.#messages;
  }

  message(messageId: string = randomUUID(), text = this.text): object {
    return { message: { messageId, role: 'ROLE_USER', parts: [{ text }] } };
  }

  /** Sends a message, waits for the answer, and returns the task in it. */
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

  /** Waits until the task waits or has ended. Returns undefined if this takes too long. */
  async settled(taskId: string): Promise<TaskContent | undefined> {
    for (
      const deadline = performance.now() + STUCK_AFTER_MS;
      performance.now() < deadline && !this.#signal.aborted;
      await pause(POLL_MS)
    ) {
      const view = await this.task(taskId);
      if (view.settled) return view;
    }
    return undefined;
  }

  /** Runs a task to its end. Returns its id and the events of its stream. */
  async whole(): Promise<{ frames: Frame[]; taskId: string }> {
    const frames: Frame[] = [];
    const view = new TaskContent();
    for await (const frame of this.begin()) {
      view.take(frame.data);
      frames.push(frame);
    }
    return { frames, taskId: view.taskId ?? '' };
  }

  /** Counts a message. @throws NoAnswer if the probe may send no more messages */
  #count(): void {
    if (this.#messages >= MAX_MESSAGES)
      throw new NoAnswer(`the limit of ${MAX_MESSAGES} messages is reached`);
    this.#messages += 1;
  }
}
