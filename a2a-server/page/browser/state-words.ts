import type { TaskState } from '../../../shared/client/index.ts';

export const STATE_WORDS: Readonly<Record<TaskState, string>> = {
  'not-delivered': 'not delivered',
  waiting: 'waits for you',
  working: 'working',
  completed: 'completed',
  canceled: 'cancelled',
  failed: 'failed',
  rejected: 'rejected by the agent',
};
