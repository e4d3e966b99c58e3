import { expect, it } from '@jest/globals';
import { readTaskCosts } from '../../../../../a2a-server/executor/queries/read-task-costs.ts';
import type { TaskEvent } from '../../../../../a2a-server/task/events.ts';
import { entriesFrom } from '../../../../support/folded-task.ts';

it('the cost of a turn names the model that started the turn, also in a journal of several pages', async () => {
  const deltas: TaskEvent[] = Array.from({ length: 1_000 }, () => ({
    type: 'text.delta',
    turn: 1,
    text: 'x',
  }));
  const usage = { inputTokens: 9, outputTokens: 1 };
  const events: TaskEvent[] = [
    { type: 'turn.started', turn: 1, model: 'vllm:qwen3' },
    ...deltas,
    { type: 'turn.finished', turn: 1, end: 'stop', usage },
  ];
  const entries = entriesFrom(events);
  const read = (_: string, after: number, limit: number) =>
    Promise.resolve(entries.slice(after, after + limit));
  const { requests } = await readTaskCosts({ read }, 'task-1');
  expect(requests).toMatchObject([{ turn: 1, model: 'vllm:qwen3', ...usage, usd: null }]);
});
