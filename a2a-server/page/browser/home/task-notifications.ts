/** Decides which waiting tasks get a notification, and builds its text. Pure. */
import type { GroupedTask } from '../../../../shared/protocol/task-groups.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';

export interface BrowserTaskNotification {
  taskId: string;
  /** The id of the question. Two tabs with the same key show one notification. */
  key: string;
  title: string;
  body: string;
}

const MAX_TITLE_CHARS = 60;

/**
 * Returns the notifications for these tasks. A notification names the kind of action and the task. It never contains
 * the action's input, which may be secret.
 */
export function taskNotifications(tasks: readonly GroupedTask[]): BrowserTaskNotification[] {
  return tasks.flatMap((task) =>
    questionsOf(task).map(({ id, kind }) => ({
      taskId: task.taskId,
      key: `${task.taskId} ${id}`,
      title: `The agent ${kind}`,
      body: task.title === '' ? 'Task without a title' : visibleLine(task.title, MAX_TITLE_CHARS),
    })),
  );
}

const KINDS: Readonly<Record<string, string>> = {
  none: 'wants to use a tool',
  files: 'wants to change files',
  command: 'wants to run a command',
  network: 'wants to use the network',
  other: 'wants to use a tool',
};

function questionsOf({ waitingFor, updatedAt }: GroupedTask): { id: string; kind: string }[] {
  switch (waitingFor?.type) {
    case 'actions':
      return waitingFor.first.map(({ callId, shown, sideEffect, reason }) => ({
        id: `${callId} ${shown}`,
        kind: reason === 'question' ? 'asks a question' : (KINDS[sideEffect] ?? 'wants to use a tool'),
      }));
    case 'reply':
      return [{ id: updatedAt, kind: 'waits for your message' }];
    case 'sign-in':
      return [{ id: updatedAt, kind: 'needs a sign-in' }];
    case undefined:
      return [];
  }
}
