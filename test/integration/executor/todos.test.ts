/** The agent's to-do list: from the tool call to every client's view, on a real journal. */
import { expect, it } from '@jest/globals';
import { foldObserved } from '../../../bridge/sessions/task-view.ts';
import { toolApprovalDialect } from '../../../bridge/dialects/tool-approval.ts';
import { agentOutput } from '../../../bridge/mcp/reports/session-report.ts';
import { todosLine } from '../../../bridge/mcp/reports/todos-line.ts';
import { toStreamResponse } from '../../../a2a-server/http/wire/event-projection.ts';
import { toA2aTask } from '../../../a2a-server/http/wire/task-projection.ts';
import type { JournalEntry } from '../../../a2a-server/task/events.ts';
import { foldAll } from '../../../a2a-server/task/fold.ts';
import type { Todo } from '../../../shared/protocol/tool-approval.ts';
import { ScriptedModel, type ScriptedTurn } from '../../support/scripted-model.ts';
import { messageOf, untilSettled, startTaskService } from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const list = (...statuses: Todo['status'][]): ScriptedTurn => ({
  calls: [
    {
      tool: 'update-todos',
      input: { todos: statuses.map((status, index) => ({ text: `step ${index + 1}`, status })) },
    },
  ],
});

it('R05 a reader from the start, a reader from any cursor and the last snapshot have the same to-do list', async () => {
  const { tasks } = await startTaskService({
    stateDir: await temporaryDirectory(),
    workspace: await temporaryDirectory(),
    models: new ScriptedModel([
      list('in_progress', 'pending'),
      list('done', 'in_progress'),
      { text: 'Half done.' },
    ]),
  });
  const ended = await untilSettled(tasks, await tasks.send(messageOf('go')));
  expect(ended.todos).toEqual([
    { text: 'step 1', status: 'done' },
    { text: 'step 2', status: 'in_progress' },
  ]);
  const entries: JournalEntry[] = [];
  const { signal } = new AbortController();
  for await (const batch of tasks.follow(ended.taskId, 0, { until: 'settled', signal }))
    entries.push(...batch);
  const see = { taskId: ended.taskId, sessionId: ended.sessionId, approval: true, resumable: true };
  for (let cut = 1; cut <= entries.length; cut += 1) {
    const snapshot = foldAll(ended.taskId, entries.slice(0, cut));
    if (snapshot === undefined) throw new Error('the journal begins no task');
    const task = { payload: { $case: 'task' as const, value: toA2aTask(snapshot, see) } };
    const rest = entries.slice(cut).flatMap((entry) => toStreamResponse(entry, see) ?? []);
    const view = [task, ...rest].reduce(
      (before: ReturnType<typeof foldObserved>, event) =>
        foldObserved(before, toolApprovalDialect.read(event)),
      undefined,
    );
    expect(todosLine(view)).toBe('todos 1/2: step 2');
    expect(view && agentOutput(view)).toBe('Half done.');
  }
});
