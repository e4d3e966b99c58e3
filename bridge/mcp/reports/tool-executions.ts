/** The tool executions of a session's task, for clients that want to follow or abort one (R40). Pure. */
import { z } from 'zod';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { TaskView } from '../../sessions/task-view.ts';

/** Of a task with many, the latest: what still runs is among them. */
const MAX_LISTED = 50;

export const toolExecution = z.object({
  /** What `abort_tool_execution` and the method `tools/abort` take. */
  toolId: z.string(),
  tool: z.string(),
  title: z.string(),
  /** `running`, or how it ended. */
  state: z.string(),
  /** RFC 3339; null where the agent does not say, or began before this bridge looked. */
  startedAt: z.string().nullable(),
  agent: z.string(),
  sessionId: z.string(),
});
export type ToolExecution = z.infer<typeof toolExecution>;

/** Where a result carries them, as `_meta`; they are in `metadata` too, for clients that look there. */
export const TOOL_EXECUTIONS = 'mcp-a2a-bridge/toolExecutions';

export function toolExecutions({
  id,
  agent,
  view,
}: {
  id: string;
  agent: { name: string };
  view: TaskView | undefined;
}): readonly ToolExecution[] {
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
  const ended = begun.filter(({ state }) => state !== 'running').slice(-MAX_LISTED);
  return begun.filter((it) => running.includes(it) || ended.includes(it));
}
