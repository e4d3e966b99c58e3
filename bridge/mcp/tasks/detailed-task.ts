/** A session's task as the tasks extension of MCP shows it (`io.modelcontextprotocol/tasks`, 2026-07-28). Pure. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Form, UrlForm } from '../../approvals/form-field.ts';
import type { OfferedForm } from '../../approvals/offered-forms.ts';
import { phaseOf } from '../reports/phase.ts';
import { toMcpState } from '../../dialects/mcp-state.ts';
import type { TaskView } from '../../sessions/task-view.ts';

/** What every shape of a task has. */
export interface TaskHead {
  taskId: string;
  statusMessage: string;
  /** RFC 3339. */
  createdAt: string;
  lastUpdatedAt: string;
  /** A task is kept for as long as its agent keeps it. */
  ttlMs: null;
  pollIntervalMs: number;
}

export type DetailedTask = TaskHead &
  (
    | { status: 'working' | 'cancelled' }
    | {
        status: 'input_required';
        inputRequests: Record<string, { method: 'elicitation/create'; params: Form | UrlForm }>;
      }
    | { status: 'completed'; result: CallToolResult & { resultType: 'complete' } }
  );

/** Milliseconds between two looks. While a form is open, a look withdraws it when somebody decides elsewhere (R97). */
const POLL_MS = { moving: 1_000, formOpen: 500 };

export interface Shown {
  taskId: string;
  agent: string;
  sessionId: string;
  view: TaskView | undefined;
  /** Why the task cannot be followed at the moment. */
  trouble: string | undefined;
  createdAt: Date;
  changedAt: Date;
  forms: readonly OfferedForm[];
  /** It waits for a decision that no form of this client can take: the person decides elsewhere. */
  beyondForms: boolean;
  /** Made only where the task has ended, or is handed back as it waits. */
  result: () => CallToolResult;
}

export function detailedTask(shown: Shown): DetailedTask {
  const { view, forms, beyondForms, result } = shown;
  const state = view === undefined ? 'working' : toMcpState(view.state);
  switch (state) {
    case 'completed':
    // "`failed` MUST NOT be used for non-JSON-RPC errors": a task that failed on its agent is a result that says so.
    case 'failed':
      return {
        ...headOf(shown, POLL_MS.moving),
        status: 'completed',
        // As the call itself would have been answered, its result type included.
        result: { resultType: 'complete', ...result() },
      };
    case 'cancelled':
      return { ...headOf(shown, POLL_MS.moving), status: 'cancelled' };
    case 'input_required':
      // As a call in a client without forms is answered: the result says what waits and how a person decides it.
      if (beyondForms)
        return {
          ...headOf(shown, POLL_MS.moving),
          status: 'completed',
          result: { resultType: 'complete', ...result() },
        };
      // Between a decision and the agent's next step the state may still read so, with nothing left to ask.
      if (forms.length === 0 && view?.state === 'input-required') break;
      return {
        ...headOf(shown, POLL_MS.formOpen),
        status: 'input_required',
        inputRequests: Object.fromEntries(
          forms.map(({ ask, params }) => [ask.key, { method: 'elicitation/create', params }]),
        ),
      };
    case 'working':
    case 'unknown':
      break;
  }
  return { ...headOf(shown, POLL_MS.moving), status: 'working' };
}

function headOf(
  { taskId, agent, sessionId, view, trouble, createdAt, changedAt }: Shown,
  pollIntervalMs: number,
): TaskHead {
  const said = view?.state === 'auth-required' ? view.text : phaseOf(view);
  const words = trouble ?? said;
  return {
    taskId,
    statusMessage: `Session ${sessionId} with ${agent}: ${words}`,
    createdAt: createdAt.toISOString(),
    lastUpdatedAt: new Date(Math.max(createdAt.getTime(), changedAt.getTime())).toISOString(),
    ttlMs: null,
    pollIntervalMs,
  };
}
