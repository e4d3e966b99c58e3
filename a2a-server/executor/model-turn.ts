/**
 * Runs one model turn: sends the conversation, and journals the text and the tool calls.
 *
 * - Appends text chunks when they arrive. Chunks that arrive together, or during an append, share one append.
 * - One append contains the calls, their verdicts, the next step (the task waits or ends) and the last text. So the
 *   journal records a complete turn or no turn.
 * - A4: a cancelled task ends its turn at once. The signal fires, and later appends find the task ended.
 */
import type { AbortScope } from '../../shared/runtime/abort.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { isRecord } from '../../shared/runtime/record.ts';
import { PromptTooLong, type Model } from '../models/model.ts';
import { conversation, type ConversationStep } from '../task/conversation.ts';
import { filesIn, type ConversationFile } from '../task/conversation-files.ts';
import type { RequestedCall, TaskEvent, TurnEnd, Usage, PolicyVerdict } from '../task/events.ts';
import { foldNext } from '../task/fold.ts';
import { afterFailure, type ModelFailure } from '../task/model-outage.ts';
import { nextStep, turnStartEvents } from '../task/next-step.ts';
import { isTerminal, type Snapshot } from '../task/snapshot.ts';
import { costOf } from '../task/spending.ts';
import type { JsonObject, TurnPart, TurnReplay } from '../task/turn-replay.ts';
import { conversationTooLongEvent } from './fit-context-window.ts';
import { QuietModelNotice } from './quiet-model-notice.ts';
import type { AbortCause } from './abort-cause.ts';
import type { TaskLog } from './task-log.ts';
import { TurnWriter } from './turn-writer.ts';
import { eventsUntilAborted, modelFailureOf } from './model-call-events.ts';

export interface ModelCallRequest {
  modelCallId: string;
  tool: string;
  input: unknown;
}

export interface PreparedCall {
  call: RequestedCall;
  /** The policy verdict on the call, given the task after the earlier calls of the turn. */
  judge: (snapshot: Snapshot) => PolicyVerdict;
}

export interface ModelTurn {
  log: TaskLog;
  clock: Clock;
  /** The model for the task's state at the start of the turn. */
  modelFor: (snapshot: Snapshot) => Model;
  instructions: string;
  tools: Parameters<Model['stream']>[0]['tools'];
  /** A hash of the instructions, the tools and the endpoint. */
  basis: string;
  /** The session's earlier tasks, oldest first. */
  earlier: readonly Snapshot[];
  /** Returns the content of a file of the conversation. Undefined if it is lost. */
  readFile: (file: ConversationFile) => Promise<Uint8Array | undefined>;
  /** Absolute path of the directory the task works in. */
  workspace: string;
  /** The scope of the model call. The reason `timeout` fails the task. Any other reason leaves the turn unfinished. */
  scope: AbortScope<AbortCause>;
  /** Validates a call and creates its preview. */
  prepare(request: ModelCallRequest): Promise<PreparedCall>;
}

/** Runs one turn of the task. Resolves when the journal has the turn or its abandonment, or when the task has ended. */
export async function runModelTurn(taskId: string, context: ModelTurn): Promise<void> {
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
  let finish: { end: TurnEnd; usage: Usage; parts?: readonly TurnPart[] } | undefined;
  let unwritten: readonly TaskEvent[];
  // The notice ignores a failed append, because the next write reports the error.
  const quiet = new QuietModelNotice(
    model,
    context.clock,
    (text) => void writer.write({ type: 'turn.noted', turn, text })?.catch(() => undefined),
  );
  try {
    const steps = conversation(context.earlier, snapshot, {
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
    for await (const event of eventsUntilAborted(events, signal)) {
      quiet.heard();
      switch (event.type) {
        case 'text':
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
    // Flush the text first, because the preparation of the calls may take long.
    if (requests.length > 0) await writer.flush();
    unwritten = await writer.close();
  } catch (error) {
    if (signal.aborted) return cutShort(context, { taskId, turn });
    // The model did not cause a storage error. The executor tries the task again.
    if (error instanceof ProductError && error.reason === 'STORAGE') throw error;
    if (error instanceof PromptTooLong) await refused(context, { taskId, turn }, error);
    else await failed(context, { taskId, turn }, modelFailureOf(error));
    return;
  } finally {
    quiet.end();
  }
  if (signal.aborted || finish === undefined) return cutShort(context, { taskId, turn });
  const prepared: PreparedCall[] = [];
  for (const request of requests) prepared.push(await context.prepare(request));
  const { end, usage, parts } = finish;
  const replay = parts && { basis: context.basis, parts: withInputs(parts, requests, prepared) };
  const usd = costOf(usage, model.price);
  await log.change(taskId, (s) => {
    if (s.openTurn?.turn !== turn) return { type: 'keep' };
    const events = [...unwritten];
    let after = foldNext(s, events);
    const add = (event: TaskEvent): void => {
      events.push(event);
      after = foldNext(after, [event]);
    };
    // Judge the calls in order, on the current snapshot. A grant may have ended during the turn.
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
    const next = nextStep(after);
    return { type: 'append', events: next.type === 'append' ? [...events, ...next.events] : events };
  });
}

async function contentsOf(
  steps: readonly ConversationStep[],
  readFile: ModelTurn['readFile'],
): Promise<Map<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>();
  for (const file of steps.flatMap(filesIn)) {
    const content = contents.get(file.hash) ?? (await readFile(file));
    if (content !== undefined) contents.set(file.hash, content);
  }
  return contents;
}

/** If a checked input differs from the model's input (e.g. by defaults), adds the model's input. */
function withInputs(
  parts: readonly TurnPart[],
  requests: readonly ModelCallRequest[],
  prepared: readonly PreparedCall[],
): TurnReplay['parts'] {
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

/** The value is parsed JSON. So an object that is no array is a JSON object. */
const isJsonObject = (written: unknown): written is JsonObject => isRecord(written);

/** A timeout fails the task. After any other abort, the next execution repeats the turn, or the task has ended. */
async function cutShort(context: ModelTurn, at: TurnOfTask): Promise<void> {
  const { reason } = context.scope;
  if (reason?.reason === 'timeout')
    await failed(context, at, { message: reason.message, passing: false, waitMs: 0 });
}

/** The provider refused the prompt as too long. The task shortens the conversation and sends it again once. */
async function refused({ log }: ModelTurn, at: TurnOfTask, error: PromptTooLong): Promise<void> {
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

/** Abandons the turn. If another attempt may succeed, the task calls the model again. Otherwise the task fails. */
async function failed({ log, clock }: ModelTurn, at: TurnOfTask, failure: ModelFailure): Promise<void> {
  const abandoned: TaskEvent = { type: 'turn.abandoned', turn: at.turn, reason: failure.message };
  await log.change(at.taskId, (s) =>
    isTerminal(s)
      ? { type: 'keep' }
      : {
          type: 'append',
          events: [
            ...(s.openTurn?.turn === at.turn ? [abandoned] : []),
            afterFailure(s, failure, clock.now()),
          ],
        },
  );
}
