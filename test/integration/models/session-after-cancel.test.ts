import { expect, test } from '@jest/globals';
import { buildConversation } from '../../../a2a-server/task/conversation/conversation.ts';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { modelsOf } from '../../support/model-settings.ts';
import { foldedTask } from '../../support/folded-task.ts';
import { created, message } from '../../support/journal-samples.ts';

const BY = { principal: 'p', channel: 'test' };

const taskOf = (taskId: string, ...events: TaskEvent[]): Snapshot =>
  foldedTask([created('s'), ...events], taskId);
const asked = (text: string): TaskEvent => message(text, text);

const STARTED: TaskEvent = { type: 'turn.started', turn: 1, model: 'offline' };

test.each<[string, TaskEvent[]]>([
  ['before its first turn', []],
  ['during its first turn', [{ type: 'task.working' }, STARTED]],
])('the next task of a session does not continue a task that was canceled %s', async (_when, events) => {
  const canceled = taskOf('t1', asked('create a.md with x'), ...events, {
    type: 'task.canceled',
    reason: 'a mistake',
    by: BY,
  });
  const next = taskOf('t2', asked('read b.md'), { type: 'task.working' }, STARTED);
  const calls: unknown[] = [];
  const turn = modelsOf()
    .resolve(undefined)
    .stream({
      instructions: '',
      conversation: buildConversation([canceled], next),
      exchanges: next.exchanges,
      tools: [{ name: 'read-file', description: '', inputSchema: {} }],
      signal: new AbortController().signal,
    });
  for await (const event of turn) if (event.type === 'call') calls.push([event.tool, event.input]);
  expect(calls).toEqual([['read-file', { path: 'b.md' }]]);
});
