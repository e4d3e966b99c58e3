import { describe, expect, test } from '@jest/globals';
import { Role, TaskState } from '@a2a-js/sdk';
import { taskOverviewSchema, TOOL_APPROVAL_EXTENSION } from '../../../../../shared/protocol/tool-approval.ts';
import type { TaskOverview } from '../../../../../shared/protocol/tool-approval.ts';
import { toA2aTask } from '../../../../../a2a-server/http/wire/task-projection.ts';
import type { TaskEvent } from '../../../../../a2a-server/task/events.ts';
import { callRequested, PENDING } from '../samples.ts';
import { foldedTask, decidedEvent } from '../../../../support/folded-task.ts';

const VIEW = { taskId: 'task-1', sessionId: 'session-1', approval: false, resumable: false };
const ref = { callId: 'call-1', tool: 'write-file', title: 'Write test.md' };
const by = { principal: 'local', channel: 'tool' };
const usage = { inputTokens: 1, outputTokens: 2 };

const START: TaskEvent[] = [
  { type: 'task.created', sessionId: 'session-1', principal: 'local', settings: { workspace: '/w' } },
  {
    type: 'message.received',
    message: { messageId: 'm-1', parts: [{ type: 'data', data: { a: 1 } }] },
    channel: 'a2a',
  },
];
const ASKED: TaskEvent[] = [
  ...START,
  { type: 'task.working' },
  { type: 'turn.started', turn: 1, model: 'offline' },
  { type: 'text.delta', turn: 1, text: 'Writing.' },
  callRequested({ type: 'ask' }),
  { type: 'turn.finished', turn: 1, end: 'tool-calls', usage },
  { type: 'input.required', pending: [PENDING] },
];
const decided = (decision: 'approve' | 'deny', reason: string | null = null): TaskEvent =>
  decidedEvent('call-1', { title: ref.title, decision, reason, by });

const taskOf = (events: readonly TaskEvent[], view = VIEW) =>
  toA2aTask(foldedTask(events, 'task-1', 1_000), view);
const words = (task: ReturnType<typeof taskOf>): unknown[] =>
  task.history.map(({ parts }) => parts.map(({ content }) => content?.value));

function spent(...events: TaskEvent[]): TaskOverview['usage'] {
  const task = taskOf([...START, ...events], { ...VIEW, approval: true });
  return taskOverviewSchema.parse(task.metadata?.[TOOL_APPROVAL_EXTENSION]).usage;
}

describe('a task snapshot as an A2A task', () => {
  test('a new task has the state "submitted" and its first message', () => {
    const task = taskOf(START);
    expect(task).toMatchObject({
      id: 'task-1',
      contextId: 'session-1',
      status: { state: TaskState.TASK_STATE_SUBMITTED, timestamp: '1970-01-01T00:00:01.000Z' },
      history: [
        { messageId: 'm-1', role: Role.ROLE_USER, parts: [{ content: { $case: 'data', value: { a: 1 } } }] },
      ],
      artifacts: [],
    });
  });

  test('R09 after the last decision, the task has the state "working" and no pending action', () => {
    const before = taskOf(ASKED, { ...VIEW, approval: true });
    expect(before.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const after = taskOf([...ASKED, decided('approve')], { ...VIEW, approval: true });
    expect(after.status).toMatchObject({ state: TaskState.TASK_STATE_WORKING, message: undefined });
  });

  test('D3 after one of two decisions, the other action is still pending', () => {
    const two: TaskEvent[] = [
      ...ASKED.slice(0, 6),
      callRequested({ type: 'ask' }, 'call-2'),
      { type: 'turn.finished', turn: 1, end: 'tool-calls', usage },
      { type: 'input.required', pending: [PENDING, { ...PENDING, callId: 'call-2' }] },
      decided('approve'),
    ];
    const task = taskOf(two, { ...VIEW, approval: true });
    expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(task.status?.message?.parts[1]?.content?.value).toMatchObject({ pending: [{ callId: 'call-2' }] });
  });

  test('a turn that has not ended has an artifact even before its first text, because later events append to it', () => {
    expect(taskOf([...START, { type: 'turn.started', turn: 1, model: 'offline' }]).artifacts).toMatchObject([
      { artifactId: 'turn-1', parts: [{ content: { value: '' } }] },
    ]);
  });

  test('the history gives the outcome of each call', () => {
    expect(words(taskOf(ASKED))[1]).toEqual(['Writing.', 'Write test.md: waits for a decision']);
    expect(words(taskOf([...ASKED, decided('deny', 'not now')]))[1]).toEqual([
      'Writing.',
      'Write test.md: denied: not now (denied by the local user in a tool call of the MCP client)',
    ]);
    const ran: TaskEvent[] = [
      ...ASKED,
      decided('approve'),
      { type: 'tool.started', ...ref, toolId: 'tool-1' },
      {
        type: 'tool.finished',
        ...ref,
        toolId: 'tool-1',
        outcome: { type: 'ok', text: 't', summary: 'wrote it' },
      },
    ];
    expect(words(taskOf(ran))[1]).toEqual([
      'Writing.',
      'Write test.md: wrote it (approved by the local user in a tool call of the MCP client)',
    ]);
  });

  test.each<[string, TaskEvent[], string]>([
    ['waiting', [], 'waiting'],
    ['ready', [decided('approve')], 'ready'],
    ['denied', [decided('deny')], 'denied'],
    ['running', [decided('approve'), { type: 'tool.started', ...ref, toolId: 'tool-1' }], 'running'],
  ])('the task’s overview shows a call that is %s', (_name, more, state) => {
    const task = taskOf([...ASKED, ...more], { ...VIEW, approval: true });
    const overview = taskOverviewSchema.parse(task.metadata?.[TOOL_APPROVAL_EXTENSION]);
    expect(overview).toMatchObject({ settings: { workspace: '/w' }, turns: 1, calls: [{ state }], usage });
  });

  test('the task’s overview gives the cost, and by model if the task used several', () => {
    const turn = (number: number, model: string, usd?: number): TaskEvent[] => [
      { type: 'turn.started', turn: number, model },
      { type: 'turn.finished', turn: number, end: 'tool-calls', usage, ...(usd !== undefined && { usd }) },
    ];
    expect(spent(...turn(1, 'a', 0.5), ...turn(2, 'a', 0.25))).toEqual({
      inputTokens: 2,
      outputTokens: 4,
      usd: 0.75,
    });
    expect(spent(...turn(1, 'a', 0.5), ...turn(2, 'b'))).toEqual({
      inputTokens: 2,
      outputTokens: 4,
      usd: null,
      models: [
        { model: 'a', ...usage, usd: 0.5 },
        { model: 'b', ...usage, usd: null },
      ],
    });
  });

  test.each<[TaskEvent, TaskState, string]>([
    [{ type: 'task.failed', message: 'no disk' }, TaskState.TASK_STATE_FAILED, 'no disk'],
    [{ type: 'task.rejected', message: 'not me' }, TaskState.TASK_STATE_REJECTED, 'not me'],
    [
      { type: 'task.canceled', reason: 'enough', by },
      TaskState.TASK_STATE_CANCELED,
      'Cancelled by the local user in a tool call of the MCP client: enough',
    ],
  ])('an ended task contains its reason: %j', (event, state, text) => {
    expect(taskOf([...START, event]).status).toMatchObject({
      state,
      message: { parts: [{ content: { value: text } }] },
    });
  });

  test('after the end of its task, a call that waited is reported as skipped, not as waiting', () => {
    const task = taskOf([...ASKED, { type: 'task.canceled', reason: 'no one decided', by }], {
      ...VIEW,
      approval: true,
    });
    const { calls } = taskOverviewSchema.parse(task.metadata?.[TOOL_APPROVAL_EXTENSION]);
    expect(calls).toMatchObject([{ callId: 'call-1', state: 'skipped' }]);
    expect(JSON.stringify(words(task))).toContain('did not run, because the task ended first');
    expect(JSON.stringify(words(taskOf(ASKED)))).toContain('waits for a decision');
  });

  test('a short history contains the newest messages, and task lists omit artifacts', () => {
    const snapshot = foldedTask(ASKED);
    expect(toA2aTask(snapshot, VIEW, { historyLength: 1 }).history).toMatchObject([
      { role: Role.ROLE_AGENT },
    ]);
    expect(toA2aTask(snapshot, VIEW, { historyLength: 0 }).history).toEqual([]);
    expect(toA2aTask(snapshot, VIEW, { artifacts: false }).artifacts).toEqual([]);
  });
});
