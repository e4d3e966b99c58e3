/** Reads the complete output of tool executions from the journal, even after a restart. */
import type { Journal } from '../../journal/journal.ts';
import { readEntryPages } from '../../journal/read-pages.ts';
import type { ReadToolOutput } from '../../tools/builtin/read-output.ts';

/**
 * Returns a function that reads the output of a tool execution. X1: the reader, which is another tool execution, must
 * be in the same session.
 */
export function createToolOutputReader(
  journal: Pick<Journal, 'toolExecution' | 'row' | 'read'>,
): ReadToolOutput {
  const sessionOf = async (toolId: string): Promise<{ taskId: string; session: string } | undefined> => {
    const execution = await journal.toolExecution(toolId);
    const row = execution && (await journal.row(execution.taskId));
    return row && { taskId: row.taskId, session: `${row.principal}\0${row.sessionId}` };
  };
  return async (toolId, reader) => {
    const [of, by] = [await sessionOf(toolId), await sessionOf(reader)];
    return of === undefined || of.session !== by?.session ? undefined : outputIn(journal, of.taskId, toolId);
  };
}

async function outputIn(journal: Pick<Journal, 'read'>, taskId: string, toolId: string): Promise<string> {
  const pieces: string[] = [];
  for await (const page of readEntryPages(journal, taskId))
    for (const { event } of page)
      if (event.type === 'tool.output' && event.toolId === toolId) pieces.push(event.text);
  return pieces.join('');
}
