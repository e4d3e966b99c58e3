import type { Activity, ToolProgress } from '../../protocol/tool-approval.ts';
import type { ClientError } from './client-error.ts';
import type { TaskReport } from './task-report.ts';

export type Progress =
  /** More text of the agent's answer. The caller appends it. */
  | { type: 'text'; text: string }
  /** A step of a tool call: requested, decided, started, output or finished. Only A2A has this event. */
  | { type: 'activity'; activity: Activity }
  /**
   * A progress message. `steps` is the progress of the task's only tool, if the tool reports its steps. Only MCP has
   * this event.
   */
  | { type: 'note'; message: string; steps?: ToolProgress }
  /** The task's state has changed: it works, waits for a person, or has ended. */
  | { type: 'state'; report: TaskReport }
  /** The connection was lost. The task continues, and no event is lost. */
  | { type: 'reconnecting'; attempt: number; error: ClientError };

export type OnProgress = (progress: Progress) => void;
