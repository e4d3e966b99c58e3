/**
 * Runs one model turn. Sends the conversation, and journals the text and the tool calls.
 *
 * - Text chunks are appended as they arrive. Chunks that arrive during an append share the next append.
 * - One append contains the calls, their verdicts, the last text, and the event that ends the task, or makes it wait
 *   for a person. So the journal has the complete end of a turn or nothing of it.
 * - A4: a cancelled task ends its turn at once. The signal fires, and later appends change nothing.
 */
import type { AbortScope } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { isRecord } from '../../../shared/runtime/record.ts';
import { PromptTooLongError, type Model, type ModelEvent } from '../../models/model.ts';
import { isReadOnlyMode } from '../../policy/task-mode.ts';
import { buildConversation, type ConversationStep } from '../../task/conversation/conversation.ts';
import { filesOfStep, type ConversationFile } from '../../task/conversation/select-files-for-model.ts';
import type { RequestedCall, TaskEvent, TurnEnd, TokenUsage, PolicyVerdict } from '../../task/events.ts';
import { foldNextEvents } from '../../task/fold.ts';
import { eventAfterModelFailure, type ModelFailure } from '../../task/model-outage.ts';
import { nextStep, turnStartEvents } from '../../task/next-step.ts';
import { isTerminal, type Snapshot } from '../../task/snapshot.ts';
import { openTodosReminder } from '../../task/todo-reminder.ts';
import { usageCost } from '../../task/spending.ts';
import type { JsonObject, TurnPart, TurnReplayData } from '../../task/replay-provider-data.ts';
import { conversationTooLongEvent } from './fit-context-window.ts';
import { QuietModelNotice } from './quiet-model-notice.ts';
import type { AbortCause } from '../abort-scopes/abort-cause.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';
import { TurnWriter } from './turn-writer.ts';
import { modelEventsUntilAborted, toModelFailure } from './abortable-model-events.ts';

export interface ModelCallRequest {
  modelCallId: string;
  tool: string;
  input: unknown;
}

export interface PreparedCall {
  call: RequestedCall;
  /** Returns the policy's verdict. `snapshot` includes the turn's earlier calls. */
  judge: (snapshot: Snapshot) => PolicyVerdict;
}

export interface ModelTurnOptions {
  log: TaskJournal;
  clock: Clock;
  /** Returns the model of the task. `snapshot` is the task at the start of the turn. */
  modelFor: (snapshot: Snapshot) => Model;
  instructions: string;
  tools: Parameters<Model['stream']>[0]['tools'];
  /** A hash of the request's instructions, tools and endpoint. */
  basis: string;
  earlier: readonly Snapshot[];
  /** Returns the content of a file in the conversation, or undefined if it is lost. */
  readFile: (file: ConversationFile) => Promise<Uint8Array | undefined>;
  workspace: string;
  /**
   * The abort scope of the model call. The reason `timeout` fails the task. After any other reason, the turn stays
   * unfinished.
   */
  scope: AbortScope<AbortCause>;
  /** The number of bytes that the turn may write to the journal. A longer answer fails the task. */
  bytes: number;
  prepare(request: ModelCallRequest): Promise<PreparedCall>;
}

const TOO_LONG =
  'its answer is longer than the limits of the server for written events allow. To continue, send another message in the session.';

/** Runs one turn of the task. Resolves when the journal has the turn's end, or when the task has ended. */
export async function runModelTurn(taskId: string, context: ModelTurnOptions): Promise<void> {
  const { log, modelFor, scope } = context;
  const { signal } = scope;
  let model: Model | undefined;
  const started = await log.change(taskId, (s) => {
    if (isTerminal(s) || s.openTurn !== null) return { type: 'keep' };
    model = modelFor(s);
    return { type: 'append', events: turnStartEvents(s, model.id) };
  });
  if (started?.type !== 'appended' || model === undefined) return;
  const { snapshot } = started;
  const turn = snapshot.turns;
  const writer = new TurnWriter(log, taskId, turn);
  const requests: ModelCallRequest[] = [];
  let finish: { end: TurnEnd; usage: TokenUsage; parts?: readonly TurnPart[] } | undefined;
  let unwritten: readonly TaskEvent[];
  let characters = 0;
  let left = context.bytes;
  // If the append of a note about a quiet model fails, the error is ignored. The next append reports it.
  const quiet = new QuietModelNotice(
    model,
    context.clock,
    (text) => void writer.write({ type: 'turn.noted', turn, text })?.catch(() => undefined),
  );
  try {
    const steps = buildConversation(context.earlier, snapshot, {
      model: model.id,
      basis: context.basis,
      inputModes: model.inputModes,
    });
    const events = model.stream({
      instructions: context.instructions,
      conversation: steps,
      files: await contentsOf(steps, context.readFile),
      exchanges: snapshot.exchanges,
      tools: context.tools,
      place: { task: snapshot, earlier: context.earlier, workspace: context.workspace },
      signal,
    });
    for await (const event of modelEventsUntilAborted(events, signal)) {
      quiet.restart();
      left -= sizeOf(event);
      if (left < 0) throw new Error(TOO_LONG);
      switch (event.type) {
        case 'text':
          characters += event.text.length;
          if (event.text !== '') await writer.write({ type: 'text.delta', turn, text: event.text });
          break;
        case 'reasoning':
          await writer.write({ type: 'reasoning.delta', turn, text: event.text });
          break;
        case 'artifact':
          await writer.write({ ...event, type: 'artifact.updated', turn });
          break;
        case 'session':
          await writer.write({ type: 'agent.session', turn, agentSessionId: event.agentSessionId });
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
    // Preparing the tool calls may take long, so the text is appended first.
    if (requests.length > 0) await writer.flush();
    unwritten = await writer.close();
  } catch (error) {
    if (signal.aborted) return cutShort(context, { taskId, turn });
    // The model did not cause a storage error, so the executor tries the task again.
    if (error instanceof ProductError && error.reason === 'STORAGE') throw error;
    if (error instanceof PromptTooLongError) await recordRefusedPrompt(context, { taskId, turn }, error);
    else await recordModelFailure(context, { taskId, turn }, toModelFailure(error));
    return;
  } finally {
    quiet.end();
  }
  if (signal.aborted || finish === undefined) return cutShort(context, { taskId, turn });
  const prepared: PreparedCall[] = [];
  for (const request of requests) prepared.push(await context.prepare(request));
  const { end, usage, parts } = finish;
  const written = withInputs(parts ?? plainParts(characters, requests.length), requests, prepared);
  // The turn needs `replay` if later requests need more than text and calls, or if a validated input differs from the
  // model's input. Otherwise the journal already has exactly what the model wrote.
  const replayed = parts !== undefined || written.some((part) => part.type === 'call' && part.input);
  const replay = replayed ? { basis: context.basis, parts: written } : undefined;
  const usd = usageCost(usage, model.price, context.clock.now());
  await log.change(taskId, (s) => {
    if (s.openTurn?.turn !== turn) return { type: 'keep' };
    const events = [...unwritten];
    let after = foldNextEvents(s, events);
    const add = (event: TaskEvent): void => {
      events.push(event);
      after = foldNextEvents(after, [event]);
    };
    // The verdicts are computed one by one, because each depends on the turn's earlier calls. A grant may have ended
    // during the turn.
    for (const { call, judge } of prepared)
      add({ type: 'tool.requested', turn, call, verdict: judge(after) });
    add({
      type: 'turn.finished',
      turn,
      end,
      usage,
      ...(usd !== undefined && { usd }),
      ...(replay && { replay }),
    });
    return { type: 'append', events: [...events, ...eventsAfterTurn(after, turn, model)] };
  });
}

/**
 * Returns the events that follow the turn: the task ends, or waits for a person. A model that would end the task with
 * open to-dos gets a reminder instead.
 */
function eventsAfterTurn(after: Snapshot, turn: number, model: Model | undefined): TaskEvent[] {
  const next = nextStep(after);
  if (next.type !== 'append') return [];
  const ends = next.events.some(({ type }) => type === 'task.completed');
  // In plan mode, the model gets no reminder, because it cannot work on the items yet. Commands, scripts and ACP agents
  // do not use this server's to-do list.
  const reminds = ends && model?.readsInstructions === true && !isReadOnlyMode(after.settings);
  const text = reminds ? openTodosReminder(after) : undefined;
  return text === undefined ? next.events : [{ type: 'todos.reminded', turn, text }];
}

async function contentsOf(
  steps: readonly ConversationStep[],
  readFile: ModelTurnOptions['readFile'],
): Promise<Map<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>();
  for (const file of steps.flatMap(filesOfStep)) {
    const content = contents.get(file.hash) ?? (await readFile(file));
    if (content !== undefined) contents.set(file.hash, content);
  }
  return contents;
}

function sizeOf(event: ModelEvent): number {
  return 'text' in event ? event.text.length : event.type === 'artifact' ? JSON.stringify(event).length : 0;
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
async function cutShort(context: ModelTurnOptions, at: TurnOfTask): Promise<void> {
  const { reason } = context.scope;
  if (reason?.reason === 'timeout')
    await recordModelFailure(context, at, { message: reason.message, passing: false, waitMs: 0 });
}

/**
 * Handles a prompt that the provider refused as too long. The task shortens the conversation and sends it once more.
 * After the second refusal, the task fails.
 */
async function recordRefusedPrompt(
  { log }: ModelTurnOptions,
  at: TurnOfTask,
  error: PromptTooLongError,
): Promise<void> {
  await log.change(at.taskId, (s) =>
    s.openTurn?.turn !== at.turn
      ? { type: 'keep' }
      : {
          type: 'append',
          events: [
            { type: 'turn.abandoned', turn: at.turn, reason: error.message },
            s.context.refused === 'no'
              ? { type: 'context.exceeded' }
              : conversationTooLongEvent(s.openTurn.model),
          ],
        },
  );
}

interface TurnOfTask {
  taskId: string;
  turn: number;
}

/** Abandons the turn. The task calls the model again if another attempt may succeed. Otherwise the task fails. */
async function recordModelFailure(
  { log, clock }: ModelTurnOptions,
  at: TurnOfTask,
  failure: ModelFailure,
): Promise<void> {
  const abandoned: TaskEvent = { type: 'turn.abandoned', turn: at.turn, reason: failure.message };
  await log.change(at.taskId, (s) =>
    isTerminal(s)
      ? { type: 'keep' }
      : {
          type: 'append',
          events: [
            ...(s.openTurn?.turn === at.turn ? [abandoned] : []),
            eventAfterModelFailure(s, failure, clock.now()),
          ],
        },
  );
}
