/** Implements SendStreamingMessage and SubscribeToTask. Each stream reads the task's journal from a cursor. */
import type { Message, SendMessageRequest, StreamResponse, SubscribeToTaskRequest } from '@a2a-js/sdk';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { LAST_EVENT_ID_HEADER } from '../../../shared/protocol/resumable-stream-extension.ts';
import {
  seekJournalPosition,
  type CountedJournalPosition,
} from '../../executor/queries/seek-journal-position.ts';
import type { Requester } from '../../access/requester.ts';
import { isDecisionOrRevocation } from '../../executor/messages/client-message.ts';
import type { FollowUntil } from '../../executor/queries/follow-task-journal.ts';
import type { TaskService } from '../../executor/task-service.ts';
import type { TaskRow } from '../../journal/journal.ts';
import { isTaskSettled, isTerminal } from '../../task/snapshot.ts';
import { withShownCodes } from '../../task/shown-code-of-call.ts';
import type { JournalEntry } from '../../task/events.ts';
import { eventCountAfter, generationOf, type EventCount } from '../../task/generation.ts';
import type { Snapshot } from '../../task/snapshot.ts';
import type { A2aRequestContext } from '../auth/a2a-request-context.ts';
import type { PushMethods } from '../push/push-methods.ts';
import type { DisconnectHandler, FollowedMessage } from './on-disconnect.ts';
import { parseCursor, parsePosition } from './event-cursor.ts';
import { toStreamResponse } from '../wire/event-projection.ts';
import { toPermittedMessage } from '../auth/permitted-message.ts';
import { eventWithGeneration } from '../wire/generation-field.ts';
import { parseOutputModes } from '../wire/output-modes.ts';
import type { OutputModes } from '../wire/output-modes.ts';
import { messageInsteadOfTask, toA2aTask } from '../wire/task-projection.ts';
import { taskStateWord } from '../../../shared/text/task-state-word.ts';

/**
 * The lifetime of one stream, if its client can resume it. Heartbeats do not reveal a vanished or stopped peer, because
 * they fit into the kernel's buffers. So the server ends the stream. A live client subscribes again with its cursor.
 */
export const STREAM_LIFETIME_MS = 5 * 60_000;

interface StreamStart {
  task: { taskId: string; sessionId: string };
  /** The client's message whose task the stream follows. Absent if the message only decides. */
  message?: FollowedMessage | undefined;
  first?: Snapshot;
  after: number;
  /** The number of events up to `after`. Present if the stream has generations. */
  counted?: EventCount;
  until: FollowUntil;
  historyLength?: number | undefined;
  outputModes?: OutputModes | undefined;
}

interface StreamSources {
  tasks: TaskService;
  disconnects?: DisconnectHandler | undefined;
}

/** The sources for a request that sends a message. The message may register an address for push notifications. */
interface SendingSources extends StreamSources {
  pushes: Pick<PushMethods, 'send'>;
}

type EventStream = AsyncGenerator<StreamResponse, void, undefined>;

/**
 * Accepts a message. Sends the task, then all later events until the task waits or has ended (A2A 1.0 §3.1.2, §11.7).
 */
export function sendAndFollow(
  { tasks, disconnects, pushes }: SendingSources,
  request: SendMessageRequest,
  context: A2aRequestContext,
): EventStream {
  return streamEvents({ tasks, disconnects }, context, async () => {
    const historyLength = request.configuration?.historyLength;
    const outputModes = parseOutputModes(request);
    const { principal, requester } = context.caller;
    const incoming = toPermittedMessage(request, context);
    const accepted = await pushes.send(request.configuration, incoming, context);
    const snapshot = accepted.snapshot ?? (await tasks.snapshot(accepted.taskId, requester, accepted.seq));
    return {
      task: snapshot,
      message: isDecisionOrRevocation(incoming) ? undefined : { principal, seq: accepted.seq },
      first: snapshot,
      after: accepted.seq,
      counted: snapshot.counted,
      until: 'settled',
      historyLength,
      outputModes,
    };
  });
}

/**
 * Sends the task, then all later events until the task has ended (A2A 1.0 §3.1.6). The stream stays open while the task
 * waits, because a subscriber needs the events after a decision.
 *
 * With the resumable-stream extension and a cursor, sends only the events after the cursor, even of an ended task.
 */
export function subscribeToTask(
  { tasks, disconnects }: StreamSources,
  { id }: SubscribeToTaskRequest,
  context: A2aRequestContext,
): EventStream {
  return streamEvents({ tasks, disconnects }, context, async () => {
    const { requester } = context.caller;
    const { cursor } = context;
    if (cursor !== undefined) {
      // The task's index row is enough here. Folding the journal of a long task would be slow.
      const row = await tasks.row(id, requester);
      return { task: row, until: 'ended', ...(await startAfter(cursor, row, { tasks, context })) };
    }
    const snapshot = await tasks.snapshot(id, requester);
    // A2A 1.0 §3.1.6: UnsupportedOperationError for a task in a terminal state. a2a.proto of A2A 0.3: the stream returns
    // the ended task and closes.
    if (isTerminal(snapshot) && context.wire !== 'jsonrpc-0.3')
      throw new ProductError(
        'TASK_ENDED',
        `Task ${id} has ended (${taskStateWord(snapshot.status.state)}). It has no more events. Get the task to see its result.`,
        { facts: { state: snapshot.status.state } },
      );
    const { seq: after, counted } = snapshot;
    return { task: snapshot, first: snapshot, after, counted, until: 'ended' };
  });
}

/**
 * Finds the position in the journal after which a stream with this cursor begins. @throws ProductError INVALID_CURSOR
 */
async function startAfter(
  { type, text }: NonNullable<A2aRequestContext['cursor']>,
  { taskId, seq: end }: TaskRow,
  { tasks, context }: { tasks: TaskService; context: A2aRequestContext },
): Promise<Pick<StreamStart, 'after' | 'counted'>> {
  const raw = { name: LAST_EVENT_ID_HEADER, text, otherwise: WITHOUT_CURSOR_HINT };
  const task = { taskId, requester: context.caller.requester };
  if (type === 'seq') {
    const after = parseCursor(raw, end);
    if (!context.hasGenerations) return { after };
    const { counted } = await seekJournalPosition(tasks, task, ({ seq }) => seq === after);
    return { after, counted };
  }
  const generation = parsePosition(text);
  const isThere = ({ counted }: CountedJournalPosition): boolean =>
    generationOf(counted, context.sight) === generation;
  const { seq: after, counted } = await seekJournalPosition(tasks, task, isThere);
  parseCursor(raw, generationOf(counted, context.sight));
  return { after, counted };
}

const WITHOUT_CURSOR_HINT = 'Subscribe without it to get the current task first.';

/** Sends the events after a position until the task has ended. If it has ended already, sends the remaining events. */
export function streamEventsAfter(
  readable: StreamSources,
  { row, after }: { row: TaskRow; after: number },
  context: A2aRequestContext,
): EventStream {
  return streamEvents(readable, context, () => Promise.resolve({ task: row, after, until: 'ended' }));
}

/**
 * Yields the events of a stream of any kind. There is only one generator, because each nested generator costs time per
 * event.
 */
async function* streamEvents(
  { tasks, disconnects }: StreamSources,
  context: A2aRequestContext,
  begin: () => Promise<StreamStart>,
): EventStream {
  let ends: ReturnType<DisconnectHandler['reads']> | undefined;
  try {
    context.caller.becomeStream();
    const { task, message, first, after, counted: before, until, historyLength, outputModes } = await begin();
    context.caller.addFacts({ taskId: task.taskId, sessionId: task.sessionId });
    ends = disconnects?.reads(task.taskId, message);
    context.accept();
    const options = context.wireOptions(task, outputModes);
    let counted = options.generations ? before : undefined;
    if (first?.answer === 'message' && until === 'settled') {
      yield { payload: { $case: 'message', value: await waitForReplyMessage(tasks, first, context) } };
      return;
    }
    if (context.resumes) context.caller.endAfter(STREAM_LIFETIME_MS);
    if (first) yield { payload: { $case: 'task', value: toA2aTask(first, options, { historyLength }) } };
    // The stream ends here if the task already waits or has ended, e.g. because more actions are pending after this
    // decision.
    if (until === 'settled' && first && isTaskSettled(first)) return;
    // S3: the task may be larger than any later event, so the stream waits until the socket accepts more data.
    await context.caller.whenWritable();
    const pages = tasks.follow(task.taskId, after, { until, signal: context.caller.signal });
    for await (const entries of pages)
      for (const entry of entries) {
        counted &&= eventCountAfter(counted, entry.event);
        const event = toStreamResponse(
          lacksCodes(entry)
            ? await withItsCodes(tasks, entry, { taskId: task.taskId, requester: context.caller.requester })
            : entry,
          options,
        );
        if (event === undefined) continue;
        yield counted ? eventWithGeneration(event, generationOf(counted, options)) : event;
        // S3: the next event is read only after the socket accepts data. This applies to every transport.
        const full = context.caller.whenWritable();
        if (full !== undefined) await full;
      }
  } catch (error) {
    throw context.refusal(error);
  } finally {
    ends?.(context.caller.end());
  }
}

/**
 * Adds the `shown` codes to the pending actions of an entry, because old journals have no codes. The codes come from
 * the snapshot at this entry.
 */
async function withItsCodes(
  tasks: TaskService,
  { seq, at, event }: JournalEntry,
  { taskId, requester }: { taskId: string; requester: Requester },
): Promise<JournalEntry> {
  if (event.type !== 'input.required') return { seq, at, event };
  const { calls } = await tasks.snapshot(taskId, requester, seq);
  return { seq, at, event: { ...event, pending: withShownCodes(event.pending, calls) } };
}

function lacksCodes({ event }: JournalEntry): boolean {
  return event.type === 'input.required' && event.pending.some(({ shown }) => shown === undefined);
}

/** Waits for the agent's final message. A client that gets no task gets this message (A2A 1.0 §3.1.1, §3.1.2). */
export async function waitForReplyMessage(
  tasks: TaskService,
  { taskId, seq }: Snapshot,
  context: A2aRequestContext,
): Promise<Message> {
  const { requester, signal } = context.caller;
  for await (const _ of tasks.follow(taskId, seq, { until: 'ended', signal }));
  const snapshot = await tasks.snapshot(taskId, requester);
  return messageInsteadOfTask(snapshot, context.wireOptions(snapshot));
}
