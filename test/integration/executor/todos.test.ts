/** Tests the agent's to-do list, from the tool call to every client's view, on a real journal. */
import { expect, it } from '@jest/globals';
import { foldObservedEvent } from '../../../bridge/sessions/session/observed-task.ts';
import { toolApprovalDialect } from '../../../bridge/dialects/tool-approval.ts';
import { agentOutputText } from '../../../bridge/mcp/reports/session-report.ts';
import { todosLine } from '../../../bridge/mcp/reports/todos-line.ts';
import { toStreamResponse } from '../../../a2a-server/http/wire/event-projection.ts';
import { toA2aTask } from '../../../a2a-server/http/wire/task-projection.ts';
import type { JournalEntry } from '../../../a2a-server/task/events.ts';
import { foldAll } from '../../../a2a-server/task/fold.ts';
import type { Todo } from '../../../shared/protocol/tool-approval.ts';
import { readFileTool } from '../../../a2a-server/tools/builtin/read-file.ts';
import { updateTodosTool } from '../../../a2a-server/tools/builtin/update-todos.ts';
import type { Reply } from '../../support/fake-model-endpoint.ts';
import { modelEndpoint, modelsAt } from '../../support/model-stage.ts';
import type { ScriptedTurn } from '../../support/scripted-model.ts';
import {
  messageOf,
  sendUntilSettled,
  startScripted,
  startTaskService,
  untilSettled,
} from '../../support/task-service.ts';

const todosOf = (statuses: Todo['status'][]) => ({
  todos: statuses.map((status, index) => ({ text: `step ${index + 1}`, status })),
});
const list = (...statuses: Todo['status'][]): ScriptedTurn => ({
  calls: [{ tool: 'update-todos', input: todosOf(statuses) }],
});

const FAKE_TOOLS = { tools: [updateTodosTool, readFileTool] };

function call(tool: string, input: unknown): Reply {
  return {
    type: 'turn',
    turn: { calls: [{ id: 'c', name: tool, arguments: JSON.stringify(input) }] },
  };
}

function todos(...statuses: Todo['status'][]): Reply {
  return call('update-todos', todosOf(statuses));
}

function says(text: string): Reply {
  return { type: 'turn', turn: { text: [text] } };
}

const ENDED_EARLY = /You ended your work, but your to-do list has 2 open items:\\n- step 2\\n- step 3/;

it('a model that ends its work with open to-dos is asked about them once, and then its task ends', async () => {
  const endpoint = await modelEndpoint();
  const { tasks } = await startTaskService({ models: modelsAt(endpoint), ...FAKE_TOOLS });
  endpoint.script(
    todos('done', 'in_progress', 'pending'),
    says('All done.'),
    says('The rest is not needed.'),
  );
  const ended = await sendUntilSettled(tasks, messageOf('go'));
  expect(ended.status).toEqual({ state: 'completed' });
  const sent = endpoint.received.map(({ text }) => text);
  expect(sent).toHaveLength(3);
  expect(sent[1]).not.toMatch(ENDED_EARLY);
  expect(sent[2]).toMatch(ENDED_EARLY);
  const texts = ended.exchanges.flatMap((each) => (each.type === 'turn' ? [each.turn.text] : []));
  expect(texts).toEqual(['', 'All done.', 'The rest is not needed.']);
});

it('a model whose list has no open items is not asked about it', async () => {
  const endpoint = await modelEndpoint();
  const { tasks } = await startTaskService({ models: modelsAt(endpoint), ...FAKE_TOOLS });
  endpoint.script(todos('done', 'done'), says('All done.'));
  const ended = await sendUntilSettled(tasks, messageOf('go'));
  expect(ended.status).toEqual({ state: 'completed' });
  expect(endpoint.received).toHaveLength(2);
});

it('J2 after a restart, the reminder of open to-dos is in the same request', async () => {
  const endpoint = await modelEndpoint();
  const first = await startTaskService({ models: modelsAt(endpoint), ...FAKE_TOOLS });
  const cut: Reply = { type: 'turn', turn: { text: ['Now'] }, cut: { frames: 1, ending: 'silence' } };
  endpoint.script(todos('done', 'pending', 'pending'), says('All done.'), cut);
  const accepted = await first.tasks.send(messageOf('go'));
  while (endpoint.received.length < 3) await endpoint.nextRequest();
  await first.stop();
  endpoint.script(todos('done', 'done', 'done'), says('Now all is done.'));
  const second = await first.restart();
  await second.tasks.recover();
  const ended = await untilSettled(second.tasks, accepted);
  expect(ended.status).toEqual({ state: 'completed' });
  const sent = endpoint.received.map(({ text }) => text);
  expect(sent).toHaveLength(5);
  expect(sent[2]).toMatch(ENDED_EARLY);
  expect(sent[3]).toBe(sent[2]);
});

it('a model that works for ten turns without an update gets a reminder in its request', async () => {
  const endpoint = await modelEndpoint();
  const { tasks } = await startTaskService({ models: modelsAt(endpoint), ...FAKE_TOOLS });
  const reads = Array.from({ length: 10 }, (_, at) => call('read-file', { path: `${String(at)}.md` }));
  endpoint.script(todos('in_progress'), ...reads, todos('done'), says('Done.'));
  await sendUntilSettled(tasks, messageOf('go'));
  const reminded = endpoint.received.map(({ text }) =>
    text.includes('list is 10 turns old and has 1 open item'),
  );
  expect(reminded).toEqual([...Array<boolean>(11).fill(false), true, true]);
});

it('R05 a reader from the first event, a reader from any cursor and the last snapshot have the same to-do list', async () => {
  const { tasks } = await startScripted([
    list('in_progress', 'pending'),
    list('done', 'in_progress'),
    { text: 'Half done.' },
  ]);
  const ended = await sendUntilSettled(tasks, messageOf('go'));
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
      (before: ReturnType<typeof foldObservedEvent>, event) =>
        foldObservedEvent(before, toolApprovalDialect.read(event)),
      undefined,
    );
    expect(todosLine(view)).toBe('todos 1/2: step 2');
    expect(view && agentOutputText(view)).toBe('Half done.');
  }
});
