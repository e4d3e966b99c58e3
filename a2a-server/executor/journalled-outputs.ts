/** Reads the complete output of tool executions from the journal, even after a restart. */
import type { Journal } from '../journal/journal.ts';
import type { ReadOutput } from '../tools/builtin/read-output.ts';

const PAGE = 1000;

/**
 * @returns a function with which a tool execution reads the outputs of other tool executions in its own session only
 * (X1).
 */
export function journalledOutputs(journal: Pick<Journal, 'toolExecution' | 'row' | 'read'>): ReadOutput {
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
  for (let seq = 0; ;) {
    const page = await journal.read(taskId, seq, PAGE);
    for (const { event } of page)
      if (event.type === 'tool.output' && event.toolId === toolId) pieces.push(event.text);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return pieces.join('');
    seq = last.seq;
  }
}
