/** Connects the rule `--on-disconnect cancel` to the task service, which cancels a task without readers. */
import type { Clock } from '../../../shared/runtime/clock.ts';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { TaskService } from '../../executor/task-service.ts';
import {
  CancellingDisconnectHandler,
  type DisconnectHandler,
  type FollowedMessage,
} from './on-disconnect.ts';
import type { ReadersAtOtherServers } from './readers-at-other-servers.ts';

const REASON = 'its client disconnected and did not come back';

export function createCancellingDisconnectHandler({
  tasks,
  clock,
  log,
  others,
}: {
  tasks: Pick<TaskService, 'cancelWork' | 'follow'>;
  clock: Clock;
  log: Logger;
  /** Absent if no other server uses the journal. */
  others?: ReadersAtOtherServers | undefined;
}): DisconnectHandler {
  async function cancel(taskId: string, { principal, seq }: FollowedMessage): Promise<void> {
    const by = { principal, channel: 'disconnect' };
    try {
      await tasks.cancelWork(taskId, by, { messageSeq: seq, reason: REASON });
    } catch (error) {
      log.warn(
        { taskId, problem: errorMessageOf(error) },
        'a task could not be cancelled after a disconnect',
      );
    }
  }
  return new CancellingDisconnectHandler({
    clock,
    async settled(taskId, { seq }, signal) {
      for await (const _ of tasks.follow(taskId, seq, { until: 'settled', signal }));
    },
    cancel: (taskId, message) => void cancel(taskId, message),
    others,
  });
}
