import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { CallView, TaskView } from '../../../../../bridge/sessions/session/observed-task.ts';
import { startProgress } from '../../../../../bridge/mcp/tool/progress.ts';
import { callView, taskView } from '../../../../support/task-view.ts';

const call = (callId: string, state: CallView['state']): CallView =>
  callView({ callId, tool: 'run-command', title: `Run ${callId}`, state });

const view = taskView({
  calls: [call('a', 'ok'), call('b', 'error'), call('c', 'running'), call('d', 'ready')],
});

const sessionWith = (of: TaskView) => ({ id: 's', agent: { name: 'agent' }, view: of });

const params = z.object({
  params: z.looseObject({ message: z.string(), progress: z.number(), total: z.number().optional() }),
});
type Sent = z.infer<typeof params>['params'];

/** Creates a call whose client requested progress, and collects the notifications to the client. */
function calling(token: string | number | undefined): {
  context: ServerContext;
  told: string[];
  sent: Sent[];
} {
  const told: string[] = [];
  const sent: Sent[] = [];
  const mcpReq = {
    _meta: token === undefined ? undefined : { progressToken: token },
    notify: (notification: unknown) => {
      const notified = params.parse(notification).params;
      sent.push(notified);
      told.push(notified.message);
      return Promise.resolve();
    },
  };
  return { context: z.custom<ServerContext>().parse({ mcpReq }), told, sent };
}

describe('the progress of a call', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test.each([0, '', 'token'])(
    'R62 progress with the token %p is sent at least every 15 s while nothing happens',
    async (token) => {
      const { context, told } = calling(token);
      const progress = startProgress(context, 'Wait for a task');
      progress.about(sessionWith(view));
      for (let minute = 0; minute < 4; minute += 1) {
        const before = told.length;
        await jest.advanceTimersByTimeAsync(15_000);
        expect(told.length).toBeGreaterThan(before);
      }
      await progress.end();
      const count = told.length;
      await jest.advanceTimersByTimeAsync(60_000);
      expect(told).toHaveLength(count);
    },
  );

  test('R62 progress contains the phase, the tool and the number of tools, and each event is sent at once', async () => {
    const { context, told } = calling(1);
    const progress = startProgress(context, 'Wait for a task');
    await jest.advanceTimersByTimeAsync(15_000);
    expect(told.at(-1)).toBe('Wait for a task: waiting (10 s)');
    progress.about(sessionWith(view));
    await jest.advanceTimersByTimeAsync(10_000);
    expect(told.at(-1)).toMatch(
      /^Wait for a task: running: Run c · tools: 2 done, 1 running, 1 waiting \(\d+ s\)$/,
    );
    progress.report({ type: 'tool.started', callId: 'c', tool: 'run-command', title: 'Run c', toolId: 'x' });
    expect(told.at(-1)).toMatch(/^run-command runs: Run c · tools: 2 done, 1 running, 1 waiting/);
    await progress.end();
  });

  test('the steps of a single call give progress and total, and the progress always increases', async () => {
    const { context, sent } = calling(1);
    const progress = startProgress(context, 'Run a tool');
    const crawl = { callId: 'c', tool: 'crawl', title: 'Crawl', toolId: 'crawl-1' };
    progress.about(sessionWith({ ...view, calls: [{ ...call('c', 'running'), toolId: 'crawl-1' }] }));
    const page = (done: number) =>
      progress.report({
        type: 'tool.output',
        ...crawl,
        text: `page ${done} of 3: http://site/${done}\n`,
        progress: { done, total: 3 },
      });
    for (const done of [1, 2, 1]) {
      page(done);
      await jest.advanceTimersByTimeAsync(0);
    }
    await jest.advanceTimersByTimeAsync(10_000);
    await progress.end();
    expect(sent.map((each) => [each.progress, each.total])).toEqual([
      [0.001, undefined],
      [1, 3],
      [2, 3],
      [2.001, 3],
      [2.002, 3],
    ]);
    expect(sent[1]).toMatchObject({
      message: expect.stringMatching(/^page 1 of 3: http:\/\/site\/1 · /),
      _meta: { 'mcp-a2a-bridge/toolExecutions': [{ toolId: 'crawl-1', state: 'running' }] },
    });
  });

  test('the steps of one of several calls do not count as the progress of the task', async () => {
    const { context, sent } = calling(1);
    const progress = startProgress(context, 'Wait for a task');
    progress.about(sessionWith(view));
    progress.report({
      type: 'tool.output',
      callId: 'c',
      tool: 'crawl',
      title: 'Crawl',
      toolId: 'crawl-1',
      text: 'page 2 of 3: http://site/\n',
      progress: { done: 2, total: 3 },
    });
    await jest.advanceTimersByTimeAsync(0);
    await progress.end();
    expect(sent.at(-1)).toMatchObject({ progress: 0.002, message: expect.stringContaining('page 2 of 3') });
    expect(sent.at(-1)?.total).toBeUndefined();
  });

  test('for a task that already works, the first message is sent at once, because the next event may be far off', async () => {
    const { context, told } = calling(1);
    const progress = startProgress(context, 'Wait for a task');
    progress.about(sessionWith(view));
    await jest.advanceTimersByTimeAsync(0);
    expect(told).toEqual([expect.stringContaining('Wait for a task: running: Run c')]);
    await progress.end();
  });

  test('R62 without a progress token no progress is sent', async () => {
    const { context, told } = calling(undefined);
    const progress = startProgress(context, 'Wait for a task');
    await jest.advanceTimersByTimeAsync(60_000);
    await progress.end('over');
    expect(told).toEqual([]);
  });
});
