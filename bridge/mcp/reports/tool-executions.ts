/** Lists the tool executions of a session's task. R40: clients can follow and abort them. Pure. */
import { z } from 'zod';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';

/** The maximum number of ended tool executions in the list, newest first. All running ones are listed. */
const MAX_ENDED_EXECUTIONS = 50;

export const toolExecutionSchema = z.object({
  /** The id for the tool `abort_tool_execution` and the method `tools/abort`. */
  toolId: z.string(),
  tool: z.string(),
  title: z.string(),
  state: z.string(),
  /**
   * The start time in RFC 3339. Null if the agent does not report it, or if the tool started before this bridge
   * connected.
   */
  startedAt: z.string().nullable(),
  agent: z.string(),
  sessionId: z.string(),
});
export type ReportedToolExecution = z.infer<typeof toolExecutionSchema>;

/**
 * The `_meta` key under which a result contains the list. A progress notification contains only running tool
 * executions. `metadata` repeats the list for clients that cannot read `_meta`.
 */
export const TOOL_EXECUTIONS_META_KEY = 'mcp-a2a-bridge/toolExecutions';

interface ExecutingSession {
  readonly id: string;
  readonly agent: { readonly name: string };
  readonly view: TaskView | undefined;
}

export function runningExecutions(session: ExecutingSession): readonly ReportedToolExecution[] {
  return toolExecutions(session).filter(({ state }) => state === 'running');
}

export function toolExecutions({ id, agent, view }: ExecutingSession): readonly ReportedToolExecution[] {
  const begun = (view?.calls ?? []).flatMap(({ state, toolId, tool, title, startedAt }) =>
    toolId === null
      ? []
      : [
          {
            toolId,
            tool: visibleLine(tool),
            title: visibleLine(title),
            state,
            startedAt,
            agent: agent.name,
            sessionId: id,
          },
        ],
  );
  const running = begun.filter(({ state }) => state === 'running');
  const ended = begun.filter(({ state }) => state !== 'running').slice(-MAX_ENDED_EXECUTIONS);
  return begun.filter((it) => running.includes(it) || ended.includes(it));
}
