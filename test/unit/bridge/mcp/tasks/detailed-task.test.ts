import { describe, expect, test } from '@jest/globals';
import { DetailedTaskV2Schema } from '@modelcontextprotocol/ext-tasks/core/v2';
import { buildFormCandidates } from '../../../../../bridge/approvals/form.ts';
import type { TaskStateName } from '../../../../../bridge/dialects/observation.ts';
import { hasEnded, type TaskView } from '../../../../../bridge/sessions/session/observed-task.ts';
import { toDetailedTask, type DetailedTask } from '../../../../../bridge/mcp/tasks/detailed-task.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';
import { taskView } from '../../../../support/task-view.ts';

const view = (state: TaskStateName, changes: Partial<TaskView> = {}): TaskView =>
  taskView({ state, ...changes });

function shown(
  of: TaskView | undefined,
  problem?: string,
  { needsDecisionElsewhere = false, onPage = false } = {},
): DetailedTask {
  return toDetailedTask({
    taskId: 'session-1::task-1',
    agent: 'agent',
    sessionId: 'session-1',
    state: of?.state ?? 'not-delivered',
    over: of !== undefined && hasEnded(of),
    view: of,
    problem,
    createdAt: new Date(2_000),
    changedAt: new Date(1_000),
    forms: buildFormCandidates(
      { pending: of?.pending ?? [], question: of?.question ?? null },
      () => undefined,
    ).flatMap((ask) => ('form' in ask ? [{ ask, params: ask.form }] : [])),
    needsDecisionElsewhere,
    onPage,
    notes: () => ['An answer did not count.'],
    result: () => ({ content: [{ type: 'text', text: 'the result' }] }),
  });
}

const PENDING = view('input-required', { pending: [pendingWrite('one'), pendingWrite('two')] });

describe('a task as MCP tasks show it', () => {
  test.each<[string, TaskView | undefined, string]>([
    ['not heard of yet', undefined, 'working'],
    ['submitted', view('submitted'), 'working'],
    ['working', view('working'), 'working'],
    ['a state nobody knows', view('unknown'), 'working'],
    ['waiting for decisions', PENDING, 'input_required'],
    ['waiting for a sign-in', view('auth-required', { text: 'Sign in.' }), 'input_required'],
    ['decided, and not gone on yet', view('input-required'), 'working'],
    ['completed', view('completed'), 'completed'],
    ['canceled', view('canceled'), 'cancelled'],
    ['failed: a result, as only a JSON-RPC error is a failed task', view('failed'), 'completed'],
    ['rejected', view('rejected'), 'completed'],
  ])('R66 the task (%s) has the format of the MCP tasks extension', (_, of, status) => {
    const task = shown(of);
    expect(DetailedTaskV2Schema.parse(task)).toMatchObject({ status, taskId: 'session-1::task-1' });
    expect(Date.parse(task.lastUpdatedAt)).toBeGreaterThanOrEqual(Date.parse(task.createdAt));
  });

  test('R66 every pending action has its form under its own key', () => {
    const task = shown(PENDING);
    if (task.status !== 'input_required') throw new Error(task.status);
    const [one, two, ...others] = Object.entries(task.inputRequests);
    expect(others).toEqual([]);
    expect(one?.[0]).not.toBe(two?.[0]);
    expect(one?.[1]).toMatchObject({ method: 'elicitation/create', params: { mode: 'form' } });
    expect(two?.[1].params.message).toContain('two.md');
  });

  test('R66 D5 an action that no form can show in full is returned as the call itself returns it', () => {
    const task = shown(PENDING, undefined, { needsDecisionElsewhere: true });
    expect(DetailedTaskV2Schema.parse(task)).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'the result' }] },
    });
  });

  test('R14 R66 the status has no hidden character of the agent, and a long text is cut', () => {
    const text = `Sign in\u202e. ${'x'.repeat(5_000)}`;
    const { statusMessage } = shown(view('auth-required', { text }));
    expect(statusMessage).toContain('Sign in\\u{202e}. xxx');
    expect(statusMessage.length).toBeLessThan(2_000);
    expect(shown(undefined, 'Agent said \u202e.').statusMessage).toContain('\\u{202e}');
  });

  test('R14 R66 the status of a cancelled task says why it ended, and that an answer in a form did not count', () => {
    const text = 'Cancelled by the server: No one decided in time\u202e.';
    expect(shown(view('canceled', { text })).statusMessage).toBe(
      'Session session-1 with agent: cancelled. Cancelled by the server: No one decided in time\\u{202e}. An answer did not count.',
    );
    expect(shown(view('completed')).statusMessage).toBe('Session session-1 with agent: completed');
  });

  test('R66 the status says that the person decides on the page', () => {
    expect(shown(PENDING, undefined, { onPage: true }).statusMessage).toBe(
      'Session session-1 with agent: waits for 2 decisions, on the page that a form opened',
    );
  });

  test('R66 the status says why a task cannot be followed, and how to sign in', () => {
    expect(shown(view('working'), 'The agent is away.').statusMessage).toContain('The agent is away.');
    expect(shown(view('auth-required', { text: 'Open https://a.example' })).statusMessage).toContain(
      'https://a.example',
    );
  });
});
