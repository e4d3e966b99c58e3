import type { StreamResponse, Task } from '@a2a-js/sdk';

/** Wraps a task as the first event of a stream (an A2A `StreamResponse`). */
export function taskAsStreamResponse(task: Task): StreamResponse {
  return { payload: { $case: 'task', value: task } };
}
