/** What happens while an execution is under way. */
import type { Activity } from '../protocol/tool-approval.ts';
import type { ClientError } from './client-error.ts';
import type { TaskReport } from './task-report.ts';

export type Progress =
  /** The agent says more: to be appended. */
  | { type: 'text'; text: string }
  /** A tool call was asked for, decided, has started, said something or finished. Over A2A. */
  | { type: 'activity'; activity: Activity }
  /** What the agent is doing, in words. */
  | { type: 'note'; message: string }
  /** The task moves, waits for a person, or has ended. */
  | { type: 'state'; report: TaskReport }
  /** The connection was lost. The task goes on; nothing of it is missed. */
  | { type: 'reconnecting'; attempt: number; error: ClientError };

export type Tell = (progress: Progress) => void;
