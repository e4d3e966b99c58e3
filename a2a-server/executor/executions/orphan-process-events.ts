/** D6: finds a running tool call whose process a killed server left behind. Pure. */
import type { OrphanProcess } from '../../processes/child-process-records.ts';
import type { TaskEvent, ToolExecutionReference } from '../../task/events.ts';
import {
  progressNoteOf,
  runningCalls,
  runningExecution,
  type Call,
  type Snapshot,
} from '../../task/snapshot.ts';

/** Returns the tool call whose process may still run, or undefined. The task waits for the end of that process. */
export function findCallWithOrphan(
  snapshot: Snapshot,
  orphans: readonly OrphanProcess[],
): { execution: ToolExecutionReference; orphan: OrphanProcess } | undefined {
  for (const call of runningCalls(snapshot)) {
    const execution = runningExecution(call);
    const orphan = orphans.find(({ owner }) => carriesOut(owner, call, execution.toolId));
    if (orphan !== undefined) return { execution, orphan };
  }
  return undefined;
}

/**
 * Returns the event that tells the person about a process that a killed server left behind. Returns an empty list if
 * there is no such process, or if the task's status already has the text of this event.
 */
export function orphanProcessEvents(snapshot: Snapshot, orphans: readonly OrphanProcess[]): TaskEvent[] {
  const found = findCallWithOrphan(snapshot, orphans);
  if (found === undefined) return [];
  const { execution, orphan } = found;
  const { group } = orphan;
  const text = `The server was killed while "${execution.title}" ran. Its process group ${group} may still run, and the server could not end it. End it (kill -KILL -- -${group}), and the task continues. Or cancel the task.`;
  return progressNoteOf(snapshot) === text ? [] : [{ type: 'process.orphaned', ...execution, group, text }];
}

function carriesOut(owner: OrphanProcess['owner'], { source }: Call, toolId: string): boolean {
  switch (owner.type) {
    case 'tool-execution':
      return owner.toolId === toolId;
    case 'mcp-server':
      return source.type === 'mcp-server' && source.server === owner.server;
    case 'acp-agent':
      return source.type === 'acp-agent' && source.agent === owner.agent;
  }
}
