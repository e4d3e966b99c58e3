/**
 * Runs one model turn. Sends the conversation, and journals the text and the tool calls.
 *
 * - Text chunks are appended as they arrive. Chunks that arrive during an append share the next append.
 * - One append contains the last text, the calls, their verdicts and the end of the turn. If the task then ends or
 *   waits for a person, the same append contains that event too. So the journal has the complete end of a turn or
 *   nothing of it.
 * - A4: a cancelled task ends its turn at once. The signal fires, and later appends change nothing.
 */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { isRecord } from '../../../shared/runtime/record.ts';
import { PromptTooLongError, type Model } from '../../models/model.ts';
import { isReadOnlyMode } from '../../policy/task-mode.ts';
import type { RequestedCall, TaskEvent, PolicyVerdict } from '../../task/events.ts';
import { foldNextEvents } from '../../task/fold.ts';
import { eventAfterModelFailure, type ModelFailure } from '../../task/model-outage.ts';
import { nextStep, turnStartEvents } from '../../task/next-step.ts';
import { isTerminal, type Snapshot } from '../../task/snapshot.ts';
import { openTodosReminder } from '../../task/todo-reminder.ts';
import { usageCost } from '../../task/spending.ts';
import type { JsonObject, TurnPart, TurnReplayData } from '../../task/replay-provider-data.ts';
import { conversationTooLongEvent } from './fit-context-window.ts';
import { toModelFailure } from './abortable-model-events.ts';
import {
  readAnswer,
  type ModelAnswer,
  type ModelAnswerOptions,
  type ModelCallRequest,
  type StartedTurn,
} from './model-answer.ts';

export interface PreparedCall {
  call: RequestedCall;
  /** Returns the policy's verdict. `snapshot` includes the turn's earlier calls. */
  judge: (snapshot: Snapshot) => PolicyVerdict;
}

export interface ModelTurnOptions extends ModelAnswerOptions {
  /** Returns the model of the task. `snapshot` is the task at the start of the turn. */
  modelFor: (snapshot: Snapshot) => Model;
  prepare(request: ModelCallRequest): Promise<PreparedCall>;
}

/** Runs one turn of the task. Resolves when the journal has the turn's end, or when the task has ended. */
export async function runModelTurn(taskId: string, context: ModelTurnOptions): Promise<void> {
  const { signal } = context.scope;
  const started = await startTurn(taskId, context);
  if (started === undefined) return;
  const { turn } = started;
  let answer: ModelAnswer | undefined;
  try {
    answer = await readAnswer(started, context);
  } catch (error) {
    if (!signal.aborted) return await recordError(context, started, error);
  }
  if (signal.aborted || answer === undefined) return cutShort(context, started);
  const prepared: PreparedCall[] = [];
  for (const request of answer.requests) prepared.push(await context.prepare(request));
  const finished = turnFinishedEvent(started, { answer, prepared }, context);
  const { unwritten } = answer;
  await context.taskJournal.change(taskId, (s) => {
    if (s.openTurn?.turn !== turn) return [];
    const events = [...unwritten];
    let after = foldNextEvents(s, events);
    const add = (event: TaskEvent): void => {
      events.push(event);
      after = foldNextEvents(after, [event]);
    };
    // Each verdict is computed from the newest snapshot, one after the other. It depends on the turn's earlier calls,
    // and a grant may have ended since the turn began.
    for (const { call, judge } of prepared)
      add({ type: 'tool.requested', turn, call, verdict: judge(after) });
    add(finished);
    return [...events, ...eventsAfterTurn(after, turn, started.model)];
  });
}

/** Returns undefined if the task has ended, or if its turn has already started. */
async function startTurn(
  taskId: string,
  { taskJournal, modelFor }: ModelTurnOptions,
): Promise<StartedTurn | undefined> {
  let model: Model | undefined;
  const started = await taskJournal.change(taskId, (s) => {
    if (isTerminal(s) || s.openTurn !== null) return [];
    model = modelFor(s);
    return turnStartEvents(s, model.id);
  });
  if (started?.type !== 'appended' || model === undefined) return undefined;
  const { snapshot } = started;
  return { taskId, turn: snapshot.turns, snapshot, model };
}

function turnFinishedEvent(
  { turn, model }: StartedTurn,
  { answer, prepared }: { answer: ModelAnswer; prepared: readonly PreparedCall[] },
  { basis, clock }: ModelTurnOptions,
): TaskEvent {
  const { requests, characters, finish } = answer;
  const { end, usage, parts } = finish;
  const written = withInputs(parts ?? plainParts(characters, requests.length), requests, prepared);
  // The turn needs `replay` in two cases: later requests to the model need more than text and calls, or a validated
  // input differs from the model's input. Otherwise the journal already has exactly what the model wrote.
  const replayed = parts !== undefined || written.some((part) => part.type === 'call' && part.input);
  const usd = usageCost(usage, model.price, clock.now());
  return {
    type: 'turn.finished',
    turn,
    end,
    usage,
    ...(usd !== undefined && { usd }),
    ...(replayed && { replay: { basis, parts: written } }),
  };
}

/**
 * Returns the events that follow the turn: the task ends, or waits for a person. A model that would end the task with
 * open to-dos gets a reminder instead.
 */
function eventsAfterTurn(after: Snapshot, turn: number, model: Model): TaskEvent[] {
  const next = nextStep(after);
  if (next.type !== 'append') return [];
  const ends = next.events.some(({ type }) => type === 'task.completed');
  // In plan mode and in a read-only task, the model gets no reminder, because it cannot work on the items. Commands,
  // scripts and ACP agents do not use this server's to-do list.
  const reminds = ends && model.readsInstructions === true && !isReadOnlyMode(after.settings);
  const text = reminds ? openTodosReminder(after) : undefined;
  return text === undefined ? next.events : [{ type: 'todos.reminded', turn, text }];
}

/** Builds the parts of a turn: the text first, then the tool calls. */
function plainParts(characters: number, calls: number): TurnPart[] {
  return [
    { type: 'text', length: characters },
    ...Array.from({ length: calls }, () => ({ type: 'call' as const })),
  ];
}

/** Adds the model's input to a part if the validated input differs, e.g. by default values. */
function withInputs(
  parts: readonly TurnPart[],
  requests: readonly ModelCallRequest[],
  prepared: readonly PreparedCall[],
): TurnReplayData['parts'] {
  let next = 0;
  return parts.map((part) => {
    if (part.type !== 'call') return part;
    const [written, checked] = [requests[next]?.input, prepared[next]?.call.input];
    next += 1;
    return isJsonObject(written) && JSON.stringify(written) !== JSON.stringify(checked)
      ? { ...part, input: written }
      : part;
  });
}

/** True for a JSON object. `written` is parsed JSON, so each object that is not an array is a JSON object. */
const isJsonObject = (written: unknown): written is JsonObject => isRecord(written);

/**
 * Handles an aborted turn. After a timeout, the task fails. After any other abort, the next execution repeats the turn,
 * or the task has ended.
 */
async function cutShort(context: ModelTurnOptions, at: StartedTurn): Promise<void> {
  const { reason } = context.scope;
  if (reason?.reason === 'timeout')
    await recordModelFailure(context, at, { message: reason.message, passing: false, waitMs: 0 });
}

async function recordError(context: ModelTurnOptions, at: StartedTurn, error: unknown): Promise<void> {
  // The model did not cause a storage error, so the executor tries the task again.
  if (error instanceof ProductError && error.reason === 'STORAGE') throw error;
  await (error instanceof PromptTooLongError
    ? recordRefusedPrompt(context, at, error)
    : recordModelFailure(context, at, toModelFailure(error)));
}

/**
 * Handles a prompt that the provider refused as too long. The task shortens the conversation and sends it once more.
 * After the second refusal, the task fails.
 */
async function recordRefusedPrompt(
  { taskJournal }: ModelTurnOptions,
  at: StartedTurn,
  error: PromptTooLongError,
): Promise<void> {
  await taskJournal.change(at.taskId, (s) =>
    s.openTurn?.turn !== at.turn
      ? []
      : [
          { type: 'turn.abandoned', turn: at.turn, reason: error.message },
          s.context.refused === 'no'
            ? { type: 'context.exceeded' }
            : conversationTooLongEvent(s.openTurn.model),
        ],
  );
}

/** Abandons the turn. The task calls the model again if another attempt may succeed. Otherwise the task fails. */
async function recordModelFailure(
  { taskJournal, clock }: ModelTurnOptions,
  at: StartedTurn,
  failure: ModelFailure,
): Promise<void> {
  const abandoned: TaskEvent = { type: 'turn.abandoned', turn: at.turn, reason: failure.message };
  await taskJournal.change(at.taskId, (s) =>
    isTerminal(s)
      ? []
      : [
          ...(s.openTurn?.turn === at.turn ? [abandoned] : []),
          eventAfterModelFailure(s, failure, clock.now()),
        ],
  );
}
