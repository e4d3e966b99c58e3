/**
 * Logs each message and each cancel that the task service refuses, with its ids and the reason code. X1: the error's
 * sentence may quote a task, so it is not logged. What the service accepts is logged as events (`event-log-lines.ts`).
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { ClientMessage } from '../executor/messages/client-message.ts';
import type { TaskService } from '../executor/task-service.ts';

type Commands = Pick<TaskService, 'send' | 'recipient' | 'cancel'>;

export function withRefusalLog<Tasks extends Commands>(tasks: Tasks, log: Logger): Tasks {
  const refused = (message: string, facts: Readonly<Record<string, unknown>>) => (error: unknown) => {
    if (error instanceof ProductError) log.info({ ...facts, reason: error.reason }, message);
    throw error;
  };
  return {
    ...tasks,
    send: (incoming: ClientMessage) =>
      tasks.send(incoming).catch(refused(refusalText(incoming), idsOf(incoming))),
    recipient: (incoming: ClientMessage) =>
      tasks.recipient(incoming).catch(refused(refusalText(incoming), idsOf(incoming))),
    cancel: (...[taskId, by, reason]: Parameters<Commands['cancel']>) =>
      tasks.cancel(taskId, by, reason).catch(refused('a cancel was refused', { taskId, ...by })),
  };
}

function refusalText({ decisions, revoke }: ClientMessage): string {
  if (decisions !== undefined) return 'a decision was refused';
  return revoke === undefined ? 'a message was refused' : 'a revocation was refused';
}

function idsOf({ taskId, sessionId, principal, channel, message, decisions }: ClientMessage) {
  const callIds = decisions?.decisions.map(({ callId }) => callId);
  return { taskId, sessionId, messageId: message.messageId, callIds, principal, channel };
}
