/** Tests the session between the end of a task and the first event of its next task. */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { taskAsStreamResponse } from '../../../../../bridge/agents/task-as-stream-response.ts';
import { buildUserMessage } from '../../../../../bridge/sessions/delegation-message.ts';
import type { Session } from '../../../../../bridge/sessions/session/session.ts';
import { waitForSession } from '../../../../../bridge/sessions/wait-for-session.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { AskingAgent } from '../../../../support/asking-agent.ts';
import { FakeTask } from '../../../../support/fake-agent-task.ts';
import { signal } from '../../../../support/signal.ts';

const A_MINUTE_MS = 60_000;

describe('the next task of a session', () => {
  let agent: AskingAgent;
  let session: Session;
  let next: FakeTask;

  beforeEach(() => {
    agent = new AskingAgent();
    session = agent.session();
    session.applyEvent(taskAsStreamResponse(agent.task.complete().toTask()), agent.connection);
    next = new FakeTask('task-2', 'session-1', false).work();
    agent.respond = () => [taskAsStreamResponse(next.toTask())];
  });
  afterEach(() => session.close());

  function delegate(): Promise<void> {
    const ids = { messageId: 'm-2', sessionId: 'session-1', taskId: null };
    const withdrawal = { signal: new AbortController().signal, wanted: () => true };
    return session.deliver((dialect) => buildUserMessage(dialect.phraseTask('More.', {}), ids), {
      withdrawal,
    });
  }

  test('a wait that begins while the message is sent does not end with the earlier task', async () => {
    const delivery = delegate();
    const ends: string[] = [];
    const wait = waitForSession({ session, timeout: A_MINUTE_MS, signal: new AbortController().signal });
    void wait.then((end) => ends.push(end));
    agent.begins.happen();
    await delivery;
    await nextTurn();
    expect(ends).toEqual([]);
    session.applyEvent(taskAsStreamResponse(next.complete().toTask()), agent.connection);
    expect(await wait).toBe('settled');
    expect(session.view).toMatchObject({ taskId: 'task-2', state: 'completed' });
  });

  test('the steps and the gap of the earlier task are not those of the next one', async () => {
    session.activity.noteGap(9);
    const { cursor } = session;
    expect(session.changesSince(undefined)).toEqual({
      changes: ['input_required', 'completed'],
      changesComplete: false,
    });
    agent.begins.happen();
    await delegate();
    expect(session.view?.taskId).toBe('task-2');
    const all = { changes: ['working'], changesComplete: true };
    expect(session.changesSince(undefined)).toEqual(all);
    expect(session.changesSince(cursor)).toEqual(all);
  });

  test('a cursor of a longer earlier task hides no step of the next one', async () => {
    agent.begins.happen();
    await delegate();
    expect(session.changesSince(session.cursor + 1)).toEqual({ changes: ['working'], changesComplete: true });
    expect(session.changesSince(session.cursor)).toEqual({ changes: [], changesComplete: true });
  });

  test('J3 the earlier task does not replace the next one if the agent’s answer with it comes late', async () => {
    const earlier = agent.task.toTask();
    const arrives = signal();
    agent.fetch = async () => {
      await arrives.happened;
      return earlier;
    };
    const looking = session.fetchTask();
    agent.begins.happen();
    await delegate();
    arrives.happen();
    await looking;
    expect(session).toMatchObject({ stateName: 'working', view: { taskId: 'task-2' } });
  });
});

test('a watched session has only one open request for its task, and finds the task again after its agent was restored', async () => {
  jest.useFakeTimers();
  const agent = new AskingAgent();
  const session = agent.session();
  const answers: (() => void)[] = [];
  agent.fetch = () =>
    new Promise((_, reject) => {
      answers.push(() => reject(new ProductError('UNKNOWN_TASK', 'No such task.')));
    });
  const stop = session.watch();
  try {
    await jest.advanceTimersByTimeAsync(30_000);
    expect(answers).toHaveLength(1);
    answers[0]?.();
    await jest.advanceTimersByTimeAsync(0);
    expect(session.stateName).toBe('unknown-to-agent');
    let requests = 0;
    agent.fetch = () => {
      requests += 1;
      return Promise.resolve(agent.task.complete().toTask());
    };
    await jest.advanceTimersByTimeAsync(30_000);
    expect(session.stateName).toBe('completed');
    expect(requests).toBe(1);
  } finally {
    jest.useRealTimers();
    stop();
    session.close();
  }
});
