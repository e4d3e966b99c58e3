import { describe, expect, test } from '@jest/globals';
import { Execution } from '../../../../../shared/client/core/execution.ts';
import type { ExecutionOptions } from '../../../../../shared/client/core/execution.ts';
import { ActiveToolRequests, type ToolUpdate } from '../../../../../shared/client/core/tool-requests.ts';
import { UIToolExecutor, type ToolClient } from '../../../../../shared/client/core/ui-tool-executor.ts';
import { reportIn, ScriptedLine } from './scripted-line.ts';

const crawl = { callId: 'c', tool: 'crawl', title: 'Crawl', toolId: 'crawl-1' };

interface Running {
  line: ScriptedLine;
  client: ToolClient;
  requests: ActiveToolRequests;
}

function running(): Running {
  const line = new ScriptedLine();
  const requests = new ActiveToolRequests();
  const start = (options: ExecutionOptions) => new Execution(line, options, () => undefined);
  return {
    line,
    requests,
    client: { executeTool: (_tool, _input, options = {}) => requests.run(start, options) },
  };
}

describe('a tool call of the client library', () => {
  test('a call reports its steps, and the id for an abort, in the same way over A2A and MCP', async () => {
    const { line, client } = running();
    const updates: ToolUpdate[] = [];
    const result = client.executeTool('crawl', {}, { onProgress: (update) => updates.push(update) });
    const tell = await line.began.promise;
    tell({ type: 'activity', activity: { type: 'tool.started', ...crawl } });
    tell({
      type: 'activity',
      activity: {
        type: 'tool.output',
        ...crawl,
        text: 'page 3 of 10: x\n',
        progress: { done: 3, total: 10 },
      },
    });
    line.report = reportIn('working', { tools: [{ ...crawl, startedAt: null }] });
    tell({ type: 'note', message: 'page 4 of 10: y', steps: { done: 4, total: 10 } });
    line.end.resolve(reportIn('completed', { output: 'found' }));
    await expect(result).resolves.toMatchObject({ state: 'completed', output: 'found' });
    expect(updates).toEqual([
      { toolId: 'crawl-1', message: 'crawl runs: Crawl', progress: null, total: null },
      { toolId: 'crawl-1', message: 'page 3 of 10: x', progress: 3, total: 10 },
      { toolId: 'crawl-1', message: 'page 4 of 10: y', progress: 4, total: 10 },
    ]);
  });

  test('a call that waits for a person can be decided through its execution', async () => {
    const { line, client } = running();
    const result = client.executeTool(
      'write-file',
      {},
      { onPending: (execution) => void execution.decide({ callId: 'c', shown: '1', decision: 'approve' }) },
    );
    const tell = await line.began.promise;
    tell({ type: 'state', report: reportIn('waiting') });
    expect(line.decided).toEqual([{ callId: 'c', shown: '1', decision: 'approve' }]);
    line.end.resolve(reportIn('completed'));
    await result;
  });

  test('abortAllRequests ends a call and all other calls with its reason; afterwards there is no call to abort', async () => {
    const { line, client, requests } = running();
    const result = client.executeTool('crawl');
    await line.began.promise;
    await requests.abortAll('the person left');
    await expect(result).resolves.toMatchObject({ state: 'canceled', message: 'the person left' });
    await requests.abortAll('again');
    expect(line.cancels).toEqual(['the person left']);
  });
});

describe('an operation that calls one tool for a user interface', () => {
  test('an operation is cancelled by its own id, and calls its cancel callback once', async () => {
    const { line, client } = running();
    const executor = new UIToolExecutor(client);
    let cancelled = 0;
    const result = executor.executeWithUI('operation-1', 'crawl', {}, undefined, () => (cancelled += 1));
    await line.began.promise;
    await expect(executor.executeWithUI('operation-1', 'crawl', {})).rejects.toThrow(/runs already/);
    expect(executor.cancelOperation('operation-2')).toBe(false);
    expect(executor.cancelOperation('operation-1', 'stop')).toBe(true);
    await expect(result).resolves.toMatchObject({ state: 'canceled' });
    expect([cancelled, line.cancels]).toEqual([1, ['stop']]);
    expect(executor.cancelOperation('operation-1')).toBe(false);
  });

  test('an operation that is cancelled before it is sent also calls its callback, and rejects', async () => {
    const { client } = running();
    const executor = new UIToolExecutor(client);
    let cancelled = 0;
    const result = executor.executeWithUI('one', 'crawl', {}, undefined, () => (cancelled += 1));
    executor.cancelOperation('one');
    await expect(result).rejects.toMatchObject({ code: 'aborted' });
    expect(cancelled).toBe(1);
  });
});
