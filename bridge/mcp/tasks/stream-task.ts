/**
 * Streams the events of a task: `tasks/stream` of SEP-2694. The SEP is a draft, so this is a preview.
 *
 * - The events that clients get are numbered from 0, beginning with the first event of the task. So every bridge gives
 *   the same numbers, also after a restart. The number is 1 less than the event's `generation` in A2A 1.1.
 * - S1: a client gets all events after its cursor, in order, without gap or repeat. The agent keeps the events as
 *   long as the task, so the error `events_gone` never occurs.
 * - S3: the bridge reads the next event only after the client has taken the one before.
 * - The end of the stream stops nothing. The task continues.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { followTask } from '../../agents/follow-task.ts';
import { eventCursorOf } from '../../dialects/event-cursor.ts';
import type { Session } from '../../sessions/session/session.ts';
import { decodeMcpTaskId } from '../../sessions/mcp-task-id.ts';
import { waitForSession } from '../../sessions/wait-for-session.ts';
import type { BridgeContext } from '../bridge-context.ts';
import { findMcpTask } from './find-task.ts';
import { isLastTaskEvent, toMcpTaskEvent, type McpTaskEvent } from './task-event.ts';

interface StreamRequest {
  taskId: string;
  /** The number of the last event that the client has. Without it, the stream begins with the first event. */
  after?: number | undefined;
}

interface StreamContext {
  bridge: BridgeContext;
  /** Aborts when the client cancels the request or disconnects. */
  signal: AbortSignal;
  /** Sends an event. Resolves when the client can take the next one. */
  send: (event: McpTaskEvent) => Promise<void>;
}

/**
 * Sends the events after the cursor until the task has ended, or until the signal aborts.
 * @throws ProductError if the task is unknown, or if its agent cannot be reached; ProtocolError if the agent has no
 * resumable streams
 */
export async function streamTask(
  { taskId: id, after = -1 }: StreamRequest,
  { bridge, signal, send }: StreamContext,
): Promise<void> {
  const { session } = await findMcpTask(bridge, id);
  const { agent } = session;
  const taskId = await agentTaskId(session, id, signal);
  if (taskId === undefined) return;
  if (!(await agent.connect()).staysOpen)
    throw new ProtocolError(
      ProtocolErrorCode.MethodNotFound,
      `Agent "${agent.name}" has no resumable streams, so its tasks have no tasks/stream. Poll with tasks/get.`,
    );
  let seq = -1;
  let position = 0;
  let ended = false;
  try {
    await followTask({
      agent,
      taskId,
      signal,
      position: () => position,
      enough: () => ended,
      async onEvent(event) {
        const next = toMcpTaskEvent(event, { seq: seq + 1, taskId: id });
        // Events that the bridge had read before the abort may still arrive here.
        if (next === undefined || signal.aborted) return;
        seq = next.seq;
        position = eventCursorOf(next.payload['metadata']) ?? position;
        if (seq > after) await send(next);
        ended = isLastTaskEvent(event);
      },
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/**
 * Returns the id that the agent gave the task. Waits for this id, because the client may have the MCP task id before
 * the agent has the task. Returns undefined if the client stops waiting.
 */
async function agentTaskId(session: Session, id: string, signal: AbortSignal): Promise<string | undefined> {
  const named = decodeMcpTaskId(id)?.taskId ?? '';
  if (named !== '') return named;
  await waitForSession({ session, timeout: 0, signal });
  if (signal.aborted || session.view !== undefined) return session.view?.taskId;
  throw new ProductError(
    'AGENT_UNREACHABLE',
    `Agent "${session.agent.name}" has not begun the task yet. Call tasks/stream again in a moment.`,
  );
}
