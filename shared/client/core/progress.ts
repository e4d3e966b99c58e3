import type { ToolCallEvent, ToolProgress } from '../../protocol/tool-approval.ts';
import type { ClientError } from './client-error.ts';
import type { TaskReport } from './task-report.ts';

export type Progress =
  /** More text of the agent's answer. It follows the text of the earlier events. */
  | { type: 'text'; text: string }
  /** A step of a tool call: requested, decided, started, output or finished. Only an A2aClient reports this event. */
  | { type: 'activity'; activity: ToolCallEvent }
  /**
   * A progress message. `steps` is present if the task runs exactly one tool, and that tool reports its steps. Only an
   * McpClient reports this event.
   */
  | { type: 'note'; message: string; steps?: ToolProgress }
  /** The state of the task has changed: it works, waits for a person, or has ended. */
  | { type: 'state'; report: TaskReport }
  /** The connection was lost, and the client reconnects. The task continues, and the client misses no event. */
  | { type: 'reconnecting'; attempt: number; error: ClientError }
  /**
   * The connection works again after `reconnecting`. The client reports this at once, because the next event of the
   * task may come only after days.
   */
  | { type: 'reconnected' };

export type OnProgress = (progress: Progress) => void;
