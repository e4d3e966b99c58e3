/** Connects the rule of `--on-disconnect cancel` to the task service. */
import type { Clock } from '../../../shared/runtime/clock.ts';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { TaskService } from '../../executor/task-service.ts';
import { PARKED_STATES, TERMINAL_STATES } from '../../task/snapshot.ts';
import { CancellingDisconnects, type Disconnects } from './disconnects.ts';

const REASON = 'its client disconnected and did not come back';

export function cancellingDisconnects({
  tasks,
  clock,
  log,
}: {
  tasks: Pick<TaskService, 'row' | 'cancel' | 'follow'>;
  clock: Clock;
  log: Logger;
}): Disconnects {
  async function cancel(taskId: string, principal: string): Promise<void> {
    try {
      const { state } = await tasks.row(taskId, principal);
      if (PARKED_STATES.has(state) || TERMINAL_STATES.has(state)) return;
      await tasks.cancel(taskId, { principal, channel: 'disconnect' }, REASON);
    } catch (error) {
      if (error instanceof ProductError && error.reason === 'TASK_ENDED') return;
      log.warn({ taskId, problem: messageOf(error) }, 'a task could not be cancelled after a disconnect');
    }
  }
  return new CancellingDisconnects({
    clock,
    async settled(taskId, { seq }, signal) {
      for await (const _ of tasks.follow(taskId, seq, { until: 'settled', signal }));
    },
    cancel: (taskId, principal) => void cancel(taskId, principal),
  });
}
