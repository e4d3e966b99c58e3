/**
 * One turn of the model: the conversation in, text and tool calls into the journal.
 *
 * - Text is journalled chunk by chunk as it comes; chunks that arrive together, or during an append, share one.
 * - The calls, the verdict on each, and what they lead to by themselves (the task waits, or ends) are one append, with
 *   the last of the text: the turn is finished whole or void.
 * - A4 a canceled task's turn ends at once: the signal fires, and its appends find the task ended.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf, ProductError } from '../../shared/errors.ts';
import { onAbort, type AbortScope } from '../../shared/abort.ts';
import type { Model, ModelEvent } from '../models/model.ts';
import { conversation } from '../task/conversation.ts';
import type { RequestedCall, TaskEvent, TurnEnd, Usage, Verdict } from '../task/events.ts';
import { foldOn } from '../task/fold.ts';
import { nextStep, turnOpening } from '../task/next-step.ts';
import { isTerminal, type Snapshot } from '../task/snapshot.ts';
import type { Stop } from './stop.ts';
import type { TaskLog } from './task-log.ts';

/** Chunks that may wait for the journal before the model has to. */
const MAX_UNWRITTEN = 2048;

export interface ModelCallRequest {
  modelCallId: string;
  tool: string;
  input: unknown;
}

export interface PreparedCall {
  call: RequestedCall;
  verdict: Verdict;
}

export interface ModelTurn {
  log: TaskLog;
  model: Model;
  instructions: string;
  tools: Parameters<Model['stream']>[0]['tools'];
  /** The session's earlier tasks, oldest first. */
  earlier: readonly Snapshot[];
  /** Ends the call of the model: with reason `timeout` the task fails, with any other the turn is left as it is. */
  scope: AbortScope<Stop>;
  /** Checks a call, makes its preview and asks policy. */
  prepare(request: ModelCallRequest, snapshot: Snapshot): Promise<PreparedCall>;
}

/** Runs one turn on the task. Resolves when the turn is journalled, void, or the task has ended. */
export async function runModelTurn(taskId: string, context: ModelTurn): Promise<void> {
  const { log, model, scope } = context;
  const { signal } = scope;
  const started = await log.change(taskId, (s) =>
    isTerminal(s) || s.openTurn !== null
      ? { type: 'keep' }
      : { type: 'append', events: turnOpening(s, model.id) },
  );
  if (started?.type !== 'appended') return;
  const { snapshot } = started;
  const turn = snapshot.turns;
  const writer = new TurnWriter(log, taskId, turn);
  const requests: ModelCallRequest[] = [];
  let finish: { end: TurnEnd; usage: Usage } | undefined;
  let unwritten: readonly TaskEvent[];
  try {
    const events = model.stream({
      instructions: context.instructions,
      conversation: conversation(context.earlier, snapshot),
      exchanges: snapshot.exchanges,
      tools: context.tools,
      signal,
    });
    for await (const event of untilAborted(events, signal)) {
      switch (event.type) {
        case 'text':
          if (event.text !== '') await writer.write({ type: 'text.delta', turn, text: event.text });
          break;
        case 'artifact':
          await writer.write({ ...event, type: 'artifact.updated', turn });
          break;
        case 'note':
          await writer.write({ type: 'turn.noted', turn, text: event.text });
          break;
        case 'call':
          requests.push(event);
          break;
        case 'finish':
          finish = event;
          break;
      }
    }
    // Text is shown before its turn's calls are looked at, which may take a while.
    if (requests.length > 0) await writer.flush();
    unwritten = await writer.close();
  } catch (error) {
    if (signal.aborted) return cutShort(log, taskId, turn, scope.reason);
    // Not the model's doing, and no reason to end: whoever executes the task takes it up again.
    if (error instanceof ProductError && error.reason === 'STORAGE') throw error;
    await fail(log, taskId, turn, error);
    return;
  }
  if (signal.aborted || finish === undefined) return cutShort(log, taskId, turn, scope.reason);
  const prepared: PreparedCall[] = [];
  for (const request of requests) prepared.push(await context.prepare(request, snapshot));
  const { end, usage } = finish;
  await log.change(taskId, (s) => {
    if (s.openTurn?.turn !== turn) return { type: 'keep' };
    const events: TaskEvent[] = [
      ...unwritten,
      ...prepared.map(({ call, verdict }): TaskEvent => ({ type: 'tool.requested', turn, call, verdict })),
      { type: 'turn.finished', turn, end, usage },
    ];
    const next = nextStep(
      foldOn(
        s,
        events.map((event, index) => ({ seq: s.seq + 1 + index, at: s.updatedAt, event })),
      ),
    );
    return { type: 'append', events: next.type === 'append' ? [...events, ...next.events] : events };
  });
}

/** What is cut short for another reason than its time is taken up by the next execution, or its task has ended. */
async function cutShort(log: TaskLog, taskId: string, turn: number, stop: Stop | undefined): Promise<void> {
  if (stop?.reason === 'timeout') await fail(log, taskId, turn, new Error(stop.message));
}

async function fail(log: TaskLog, taskId: string, turn: number, error: unknown): Promise<void> {
  const message = messageOf(error);
  await log.change(taskId, (s) =>
    isTerminal(s)
      ? { type: 'keep' }
      : {
          type: 'append',
          events: [
            ...(s.openTurn?.turn === turn
              ? [{ type: 'turn.abandoned', turn, reason: message } satisfies TaskEvent]
              : []),
            { type: 'task.failed', message: `The model could not go on: ${message}` },
          ],
        },
  );
}

/** The model's events until the signal fires, whether or not the model heeds it. */
async function* untilAborted(
  events: AsyncIterable<ModelEvent>,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  const iterator = events[Symbol.asyncIterator]();
  let interrupt: (() => void) | undefined;
  const stopListening = onAbort(signal, () => interrupt?.());
  try {
    while (!signal.aborted) {
      const next = await new Promise<IteratorResult<ModelEvent> | undefined>((resolve, reject) => {
        interrupt = () => resolve(undefined);
        iterator.next().then(resolve, reject);
      });
      if (next === undefined || next.done) return;
      yield next.value;
    }
  } finally {
    stopListening();
    // Not awaited: a model that hangs must not hold the task.
    void iterator.return?.().then(undefined, () => undefined);
  }
}

/** Appends what a turn gives, in order, several chunks at a time while the journal is busy. */
class TurnWriter {
  readonly #log: TaskLog;
  readonly #taskId: string;
  readonly #turn: number;
  #unwritten: TaskEvent[] = [];
  #writing: Promise<void> | undefined;
  #closed = false;
  #failure: { error: unknown } | undefined;

  constructor(log: TaskLog, taskId: string, turn: number) {
    this.#log = log;
    this.#taskId = taskId;
    this.#turn = turn;
  }

  /** Resolves at once while few chunks are unwritten; otherwise when the journal has caught up. */
  write(event: TaskEvent): Promise<void> | undefined {
    this.#unwritten.push(event);
    this.#writing ??= this.#drain();
    return this.#unwritten.length < MAX_UNWRITTEN && this.#failure === undefined ? undefined : this.flush();
  }

  async flush(): Promise<void> {
    await this.#writing;
    if (this.#failure) throw this.#failure.error;
  }

  /** Waits for what is on its way to the journal. @returns what is not, for the caller to write. */
  async close(): Promise<readonly TaskEvent[]> {
    this.#closed = true;
    await this.flush();
    return this.#unwritten;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#unwritten.length > 0) {
        // What a model says in one breath is one append.
        await nextTurn();
        if (this.#closed) return;
        const events = this.#unwritten;
        this.#unwritten = [];
        await this.#log.change(this.#taskId, (s) =>
          s.openTurn?.turn === this.#turn ? { type: 'append', events } : { type: 'keep' },
        );
      }
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#writing = undefined;
    }
  }
}
