/** A server under test, as the scenarios of the black box ask it: A2A over JSON-RPC, and nothing else is assumed. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { A2aVersion, Caller, Frame } from './a2a-client.ts';
import { WireView } from './wire-view.ts';

/** A server under test, and what it is asked to do. */
export interface Subject {
  url: string;
  token?: string;
  /** The newest that its card offers if left out. */
  version?: A2aVersion;
  /** Work of a second or so that needs no decision, and says something on the way. */
  text: string;
  /** Ends the process without a warning, and starts it again. */
  restart?: () => Promise<void>;
}

const taskAnswer = z.object({ task: z.unknown() });

/** A task that has not settled by then never will, in milliseconds. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 50;
/** The server, as scenarios ask it. */
export class Asked {
  readonly client: Caller;
  readonly subject: Subject;

  constructor(subject: Subject, client: Caller) {
    this.subject = subject;
    this.client = client;
  }

  message(messageId: string = randomUUID(), text = this.subject.text): object {
    return { message: { messageId, role: 'ROLE_USER', parts: [{ text }] } };
  }

  /** Sends and waits. @returns the task as it was answered. */
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

  /** @returns undefined when it never settles. */
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

  /** A task that has ended, and the frames of its stream. */
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
