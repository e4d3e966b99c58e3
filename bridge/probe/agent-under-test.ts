/** Sends the requests of the checks to the agent under test. Counts the messages that it sends. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { type A2aRpcCaller, type StreamedEvent, NoAnswerError, JsonRpcError } from './json-rpc-client.ts';
import { ProbedTaskContent } from './task-content.ts';

interface AgentUnderTestOptions {
  client: A2aRpcCaller;
  /** The text of a task. The agent should work on it for about a second, produce output meanwhile, and complete it. */
  text: string;
  /**
   * Kills the agent's process without a warning, and starts it again. May resolve before the agent answers again.
   * Absent if the probe cannot do that.
   */
  restart?: (() => Promise<void>) | undefined;
  signal: AbortSignal;
}

/**
 * The states that a task of the probe may reach at its end. Some agents complete no task, and wait for the next
 * message.
 */
const REST_STATES = ['COMPLETED', 'INPUT_REQUIRED'] as const;
export type TaskRestState = (typeof REST_STATES)[number];

/** The maximum number of messages that a probe sends. Each message may start a task. */
export const MAX_PROBE_MESSAGES = 40;

const taskAnswer = z.object({ task: z.unknown() });

/**
 * The maximum time in milliseconds that the probe waits for a task that works. After a restart, the probe waits equally
 * long for the first response of the agent.
 */
const MAX_WAIT_MS = 30_000;
const POLL_MS = 100;

interface ProbeMessage {
  message: {
    messageId: string;
    taskId?: string;
    role: 'ROLE_USER';
    parts: readonly { text: string }[];
  };
}

export class AgentUnderTest {
  readonly client: A2aRpcCaller;
  readonly text: string;
  readonly restart: (() => Promise<void>) | undefined;
  /** The state that each task reaches at its end. `runFirstTask` sets it. */
  restState: TaskRestState = 'COMPLETED';
  readonly #signal: AbortSignal;
  readonly #taskIds = new Set<string>();
  #messages = 0;

  constructor({ client, text, restart, signal }: AgentUnderTestOptions) {
    this.client = client;
    this.text = text;
    this.restart =
      restart &&
      (async () => {
        await restart();
        await this.#waitUntilItAnswers();
      });
    this.#signal = signal;
  }

  /** The number of messages that were sent so far. */
  get messages(): number {
    return this.#messages;
  }

  /**
   * Runs a first task. Returns it, and the state that it reached. `restState` is undefined if the checks cannot use that
   * state.
   */
  async runFirstTask(): Promise<{ task: ProbedTaskContent; restState: TaskRestState | undefined }> {
    const task = await this.send(this.message());
    const restState = REST_STATES.find((each) => each === task.state);
    this.restState = restState ?? this.restState;
    return { task, restState };
  }

  message(messageId: string = randomUUID(), text = this.text): ProbeMessage {
    return { message: { messageId, role: 'ROLE_USER', parts: [{ text }] } };
  }

  /** Sends a message, waits for the answer, and returns the task in it. */
  async send(params: ProbeMessage): Promise<ProbedTaskContent> {
    this.#countMessage();
    const answer = taskAnswer.parse(await this.client.call('SendMessage', params));
    if (answer.task === undefined)
      throw new NoAnswerError('the agent answers with a message, and starts no task');
    return this.#recordTaskId(ProbedTaskContent.ofTask(answer.task));
  }

  async *startTask(): AsyncGenerator<StreamedEvent, void, undefined> {
    this.#countMessage();
    for await (const frame of this.client.stream('SendStreamingMessage', this.message())) {
      this.#recordTaskId(new ProbedTaskContent().take(frame.data));
      yield frame;
    }
  }

  subscribe(taskId: string, lastEventId?: string): AsyncGenerator<StreamedEvent, void, undefined> {
    return this.client.stream('SubscribeToTask', { id: taskId }, lastEventId);
  }

  async task(taskId: string): Promise<ProbedTaskContent> {
    return ProbedTaskContent.ofTask(await this.client.call('GetTask', { id: taskId }));
  }

  /** Waits until the task has ended (`ended`), or has ended or waits (`settled`). Returns undefined after 30 s. */
  waitUntil(taskId: string, state: 'settled' | 'ended'): Promise<ProbedTaskContent | undefined> {
    return this.#poll(async () => {
      const view = await this.task(taskId);
      return view[state] ? view : undefined;
    });
  }

  /** Calls `look` until it returns a value. Returns undefined after 30 s. */
  async #poll<Found>(look: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const deadline = performance.now() + MAX_WAIT_MS;
    while (performance.now() < deadline && !this.#signal.aborted) {
      const found = await look();
      if (found !== undefined) return found;
      await pause(POLL_MS);
    }
    return undefined;
  }

  /** Runs a task until it has ended or waits. Returns its id and the events of its stream. */
  async runTask(): Promise<{ frames: StreamedEvent[]; taskId: string }> {
    const frames = await readUntilRest(this.startTask());
    return { frames, taskId: taskContentOf(frames).taskId ?? '' };
  }

  /** Cancels the tasks of the probe that wait, so that no person has to do it. An error of the agent is ignored. */
  async cancelWaiting(): Promise<void> {
    if (this.restState === 'COMPLETED') return;
    for (const id of this.#taskIds)
      try {
        await this.client.call('CancelTask', { id });
      } catch (error) {
        if (error instanceof NoAnswerError) return;
        if (!(error instanceof JsonRpcError || error instanceof z.ZodError)) throw error;
      }
  }

  /**
   * Waits until the agent answers again: requests a task that does not exist, until there is a response. If there is
   * none within the time limit, the next request of the caller fails.
   */
  async #waitUntilItAnswers(): Promise<void> {
    await this.#poll(() =>
      this.task(randomUUID()).then(
        () => true,
        (error: unknown) => (error instanceof NoAnswerError ? undefined : true),
      ),
    );
  }

  #recordTaskId(view: ProbedTaskContent): ProbedTaskContent {
    if (view.taskId !== undefined) this.#taskIds.add(view.taskId);
    return view;
  }

  /** Counts a message. @throws NoAnswerError if the probe may send no more messages */
  #countMessage(): void {
    if (this.#messages >= MAX_PROBE_MESSAGES)
      throw new NoAnswerError(`the limit of ${MAX_PROBE_MESSAGES} messages is reached`);
    this.#messages += 1;
  }
}

/** Reads a stream until it ends, or until the task waits. The stream of a task that waits may stay open. */
export async function readUntilRest(
  stream: AsyncGenerator<StreamedEvent, void, undefined>,
): Promise<StreamedEvent[]> {
  const frames: StreamedEvent[] = [];
  const view = new ProbedTaskContent();
  for await (const frame of stream) {
    frames.push(frame);
    if (view.take(frame.data).waiting) break;
  }
  return frames;
}

export function taskContentOf(frames: readonly StreamedEvent[]): ProbedTaskContent {
  return frames.reduce((view, { data }) => view.take(data), new ProbedTaskContent());
}
