/** The server under test, for the scenarios of the black-box test. It uses only A2A over JSON-RPC. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { A2aVersion, Caller, Frame } from './a2a-client.ts';
import { WireView } from './wire-view.ts';

/** A server under test, and the task that the test gives it. */
export interface Subject {
  url: string;
  token?: string;
  /** The version to test. By default the newest version on the server's card. */
  version?: A2aVersion;
  /** The text of a task that works about a second, produces output meanwhile, and needs no decision. */
  text: string;
  /** Kills the process without a warning and starts it again. */
  restart?: () => Promise<void>;
}

const taskAnswer = z.object({ task: z.unknown() });

/** A task that is still working after this time counts as stuck, in milliseconds. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 50;
/** The requests of the scenarios. */
export class TestedServer {
  readonly client: Caller;
  readonly subject: Subject;

  constructor(subject: Subject, client: Caller) {
    this.subject = subject;
    this.client = client;
  }

  message(messageId: string = randomUUID(), text = this.subject.text): object {
    return { message: { messageId, role: 'ROLE_USER', parts: [{ text }] } };
  }

  /** Sends a message and waits. @returns the task in the answer */
  async send(params: object): Promise<WireView> {
    const answer = taskAnswer.parse(await this.client.call('SendMessage', params));
    if (answer.task === undefined) throw new Error('it answers with a message and makes no task');
    return WireView.ofTask(answer.task);
  }

  begin(params: object = this.message()): AsyncGenerator<Frame, void, undefined> {
    return this.client.stream('SendStreamingMessage', params);
  }

  subscribe(taskId: string, lastEventId?: string): AsyncGenerator<Frame, void, undefined> {
    return this.client.stream(
      'SubscribeToTask',
      { id: taskId },
      lastEventId === undefined ? {} : { lastEventId },
    );
  }

  async task(taskId: string): Promise<WireView> {
    return WireView.ofTask(await this.client.call('GetTask', { id: taskId }));
  }

  /**
   * Waits until the task ends or waits.
   * @returns undefined if it never does
   */
  async settled(taskId: string): Promise<WireView | undefined> {
    for (
      const deadline = performance.now() + PATIENCE_MS;
      performance.now() < deadline;
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
    const view = new WireView();
    for await (const frame of this.begin()) {
      view.take(frame.data);
      frames.push(frame);
    }
    return { frames, taskId: view.taskId ?? '' };
  }
}
