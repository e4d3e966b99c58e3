/** The tool executions of a session that run, for clients that want to abort one (R40). Pure. */
import { z } from 'zod';
import type { TaskView } from '../sessions/view.ts';

export const runningTool = z.object({
  /** What `abort_tool_execution` and the method `tools/abort` take. */
  toolId: z.string(),
  tool: z.string(),
  title: z.string(),
  /** RFC 3339; null where the agent does not say, or began before this bridge looked. */
  startedAt: z.string().nullable(),
  agent: z.string(),
  sessionId: z.string(),
});
export type RunningTool = z.infer<typeof runningTool>;

/** Where a result carries them, as `_meta`; they are in `metadata` too, for clients that look there. */
export const TOOL_EXECUTIONS = 'mcp-a2a-bridge/toolExecutions';

export function runningTools({
  id,
  agent,
  view,
}: {
  id: string;
  agent: { name: string };
  view: TaskView | undefined;
}): readonly RunningTool[] {
  return (view?.calls ?? []).flatMap(({ state, toolId, tool, title, startedAt }) =>
    state === 'running' && toolId !== null
      ? [{ toolId, tool, title, startedAt, agent: agent.name, sessionId: id }]
      : [],
  );
}
