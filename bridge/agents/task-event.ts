import type { StreamResponse, Task } from '@a2a-js/sdk';

/** A task on its own, as the event that a stream would begin with. */
export function asEvent(task: Task): StreamResponse {
  return { payload: { $case: 'task', value: task } };
}
