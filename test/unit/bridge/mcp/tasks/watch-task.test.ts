import { expect, test } from '@jest/globals';
import { taskAsStreamResponse } from '../../../../../bridge/agents/task-as-stream-response.ts';
import { FormHistory } from '../../../../../bridge/approvals/form-history.ts';
import { PageLinks } from '../../../../../bridge/approvals/page-links.ts';
import type { DetailedTask } from '../../../../../bridge/mcp/tasks/detailed-task.ts';
import { watchMcpTask } from '../../../../../bridge/mcp/tasks/watch-task.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { AskingAgent } from '../../../../support/asking-agent.ts';
import { callWithFakes } from '../../../../support/call-with-fakes.ts';
import { signal } from '../../../../support/signal.ts';

test('R66 a state that could not be read from the database is logged, and the next state is sent', async () => {
  const agent = new AskingAgent();
  const session = agent.session();
  const [logged, sent] = [signal(), signal()];
  const warnings: unknown[] = [];
  const pushed: DetailedTask[] = [];
  let broken = true;
  const bridge = {
    sessions: {
      find: async () => session,
      delegatedAt: () => {
        if (broken) throw new ProductError('STORAGE', 'The disk is full.');
        return new Date(0);
      },
    },
    formHistory: new FormHistory(),
    links: new PageLinks(),
    log: {
      warn: (line: unknown) => {
        warnings.push(line);
        logged.happen();
      },
    },
  };
  const push = (task: DetailedTask): void => {
    pushed.push(task);
    sent.happen();
  };
  const watching = { bridge: async () => bridge, name: String, opensUrls: false, followed: undefined, push };
  const stop = await callWithFakes(watchMcpTask, 'session-1::task-1', watching);
  await logged.happened;
  expect(warnings).toMatchObject([{ taskId: 'session-1::task-1', err: { reason: 'STORAGE' } }]);
  broken = false;
  session.applyEvent(taskAsStreamResponse(agent.task.work().toTask()), agent.connection);
  await sent.happened;
  expect(pushed).toMatchObject([{ status: 'working' }]);
  stop();
  session.close();
});
