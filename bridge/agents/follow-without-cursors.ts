/**
 * Follows a task of an agent that has no cursors. The first event is the current task, so it includes the missed
 * events. If the agent has no streams, or refuses to open one, the bridge fetches the task again and again. Each change
 * of the task is then an event.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { requestFailure } from './request-failure.ts';
import { taskAsStreamResponse } from './task-as-stream-response.ts';

/** The interval in milliseconds at which the bridge fetches the task of an agent without streams. */
const POLL_MS = 2_000;
/**
 * The bridge fetches an unchanged task that waits for a person at most this often. After an answer, an agent without
 * streams may show the answered question until it begins to work. If the question is still there after this number of
 * fetches, the bridge treats it as a new question.
 */
const MAX_UNCHANGED_POLLS = 15;

interface FollowedTask {
  fetchTask: () => Promise<Task>;
  /** Subscribes to the task. Undefined if the agent has no streams. */
  subscribe: (() => AsyncIterable<StreamResponse>) | undefined;
  signal: AbortSignal;
  onOpen: () => void;
}

export async function* followWithoutCursors({
  fetchTask,
  subscribe,
  signal,
  onOpen,
}: FollowedTask): AsyncIterable<StreamResponse> {
  let now = await fetchTask();
  onOpen();
  yield taskAsStreamResponse(now);
  if (subscribe !== undefined) {
    try {
      yield* subscribe();
      return;
    } catch (error) {
      // If the agent refuses the stream, the task is fetched below instead. The server of the Python SDK 0.3 has a
      // stream only while the request that sent the message is open. Afterwards this server answers that it does not
      // know the task, although it does.
      if (requestFailure(error, '').arrival !== 'refused') throw error;
    }
  }
  for (let unchanged = 0; isMoving(now) || (isWaiting(now) && unchanged < MAX_UNCHANGED_POLLS);) {
    await delay(POLL_MS, undefined, { signal });
    const before = now;
    now = await fetchTask();
    unchanged = isDeepStrictEqual(before, now) ? unchanged + 1 : 0;
    if (unchanged === 0) yield taskAsStreamResponse(now);
  }
}

function isWaiting({ status }: Task): boolean {
  const state = status?.state;
  return state === TaskState.TASK_STATE_INPUT_REQUIRED || state === TaskState.TASK_STATE_AUTH_REQUIRED;
}

function isMoving({ status }: Task): boolean {
  return status?.state === TaskState.TASK_STATE_SUBMITTED || status?.state === TaskState.TASK_STATE_WORKING;
}
