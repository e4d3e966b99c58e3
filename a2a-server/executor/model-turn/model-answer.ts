/** Reads the model's answer of one turn. Text is appended to the journal while it arrives. */
import type { AbortScope } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Model, ModelEvent } from '../../models/model.ts';
import { buildConversation, type ConversationStep } from '../../task/conversation/conversation.ts';
import { filesOfStep, type ConversationFile } from '../../task/conversation/select-files-for-model.ts';
import type { TaskEvent } from '../../task/events.ts';
import type { Snapshot } from '../../task/snapshot.ts';
import type { AbortCause } from '../abort-scopes/abort-cause.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';
import { modelEventsUntilAborted } from './abortable-model-events.ts';
import { QuietModelNotice } from './quiet-model-notice.ts';
import { TurnWriter } from './turn-writer.ts';

export interface ModelCallRequest {
  modelCallId: string;
  tool: string;
  input: unknown;
}

export interface ModelAnswerOptions {
  taskJournal: TaskJournal;
  clock: Clock;
  instructions: string;
  tools: Parameters<Model['stream']>[0]['tools'];
  /** A hash of the request's instructions, tools and endpoint. */
  basis: string;
  earlier: readonly Snapshot[];
  /** Returns the content of a file in the conversation, or undefined if it is lost. */
  readFile: (file: ConversationFile) => Promise<Uint8Array | undefined>;
  workspace: string;
  /**
   * The abort scope of the model call. An abort with the reason `timeout` fails the task. After any other abort, the
   * turn stays unfinished.
   */
  scope: AbortScope<AbortCause>;
  /** The number of bytes that the turn may write to the journal. A longer answer fails the task. */
  bytes: number;
}

export interface StartedTurn {
  taskId: string;
  turn: number;
  /** The task at the start of the turn. */
  snapshot: Snapshot;
  model: Model;
}

/** The complete answer of the model. */
export interface ModelAnswer {
  requests: readonly ModelCallRequest[];
  finish: Extract<ModelEvent, { type: 'finish' }>;
  /** The length of the answer's text. */
  characters: number;
  /** The last events of the answer, which the journal does not have yet. */
  unwritten: readonly TaskEvent[];
}

const TOO_LONG =
  'its answer is longer than the limits of the server for written events allow. To continue, send another message in the session.';

/**
 * Sends the conversation to the model and journals the answer while it arrives. Returns undefined if the signal fired
 * before the answer was complete.
 * @throws the model's failure, or ProductError STORAGE
 */
export async function readAnswer(
  { taskId, turn, snapshot, model }: StartedTurn,
  context: ModelAnswerOptions,
): Promise<ModelAnswer | undefined> {
  const { taskJournal, clock, basis, earlier, workspace, scope } = context;
  const { signal } = scope;
  const writer = new TurnWriter(taskJournal, taskId, turn);
  const requests: ModelCallRequest[] = [];
  let finish: ModelAnswer['finish'] | undefined;
  let characters = 0;
  let left = context.bytes;
  // If the append of a note about a quiet model fails, the error is ignored. The next append reports it.
  const quiet = new QuietModelNotice(
    model,
    clock,
    (text) => void writer.write({ type: 'turn.noted', turn, text })?.catch(() => undefined),
  );
  try {
    const steps = buildConversation(earlier, snapshot, {
      model: model.id,
      basis,
      inputModes: model.inputModes,
    });
    const events = model.stream({
      instructions: context.instructions,
      conversation: steps,
      files: await contentsOf(steps, context.readFile),
      exchanges: snapshot.exchanges,
      tools: context.tools,
      place: { task: snapshot, earlier, workspace },
      signal,
    });
    for await (const event of modelEventsUntilAborted(events, signal)) {
      quiet.restart();
      left -= sizeOf(event);
      if (left < 0) throw new Error(TOO_LONG);
      if (event.type === 'call') requests.push(event);
      else if (event.type === 'finish') finish = event;
      else if (event.type !== 'text' || event.text !== '') await writer.write(toTaskEvent(event, turn));
      if (event.type === 'text') characters += event.text.length;
    }
    // Preparing the tool calls may take long, so the text is appended first.
    if (requests.length > 0) await writer.flush();
    const unwritten = await writer.close();
    return finish && { requests, finish, characters, unwritten };
  } finally {
    quiet.end();
  }
}

function toTaskEvent(event: Exclude<ModelEvent, { type: 'call' | 'finish' }>, turn: number): TaskEvent {
  switch (event.type) {
    case 'text':
      return { type: 'text.delta', turn, text: event.text };
    case 'reasoning':
      return { type: 'reasoning.delta', turn, text: event.text };
    case 'artifact':
      return { ...event, type: 'artifact.updated', turn };
    case 'session':
      return { type: 'agent.session', turn, agentSessionId: event.agentSessionId };
    case 'note':
      return { type: 'turn.noted', turn, text: event.text };
  }
}

async function contentsOf(
  steps: readonly ConversationStep[],
  readFile: ModelAnswerOptions['readFile'],
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
