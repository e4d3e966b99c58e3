import { describe, expect, test } from '@jest/globals';
import { TaskState } from '@a2a-js/sdk';
import { HttpError } from '../../../../bridge/agents/http/request-errors.ts';
import { listGeminiTasks } from '../../../../bridge/agents/gemini-tasks.ts';

const asked: string[] = [];
const answering =
  (body: unknown, status = 200) =>
  async (url: URL) => {
    asked.push(url.href);
    return status === 204
      ? new Response(null, { status })
      : new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
  };
const failing = (status: number) => () => Promise.reject(new HttpError(status, 'not in memory'));
const one = { id: 't1', contextId: 's1', taskState: 'working', model: 'm', mcpServers: [] };

describe('gemini-cli’s list of tasks', () => {
  test('the list is newest first, and is read below the agent’s address', async () => {
    const tasks = await listGeminiTasks(
      'http://127.0.0.1:1/base',
      answering([one, { ...one, id: 't2', taskState: 'input-required' }]),
    );
    expect(tasks).toMatchObject([
      { id: 't2', contextId: 's1', status: { state: TaskState.TASK_STATE_INPUT_REQUIRED } },
      { id: 't1', status: { state: TaskState.TASK_STATE_WORKING } },
    ]);
    expect(asked).toEqual(['http://127.0.0.1:1/base/tasks/metadata']);
  });

  test('the list may be empty, or at another address', async () => {
    expect(await listGeminiTasks('http://127.0.0.1:1', answering(null, 204))).toEqual([]);
    expect(await listGeminiTasks('http://127.0.0.1:1', failing(501))).toBeNull();
    expect(await listGeminiTasks('http://127.0.0.1:1', failing(404))).toBeNull();
    await expect(listGeminiTasks('http://127.0.0.1:1', failing(401))).rejects.toThrow(HttpError);
  });

  test('X3 the list is empty if the response is invalid', async () => {
    expect(await listGeminiTasks('http://127.0.0.1:1', answering({ tasks: [] }))).toBeNull();
    const [unheardOf] =
      (await listGeminiTasks('http://127.0.0.1:1', answering([{ ...one, taskState: 'new' }]))) ?? [];
    expect(unheardOf?.status?.state).toBe(TaskState.TASK_STATE_UNSPECIFIED);
  });
});
