/** Tests `run_agent_tool`, which starts a task with one tool call, with the built bridge and our server. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { actionOf } from '../../support/a2a-message.ts';
import { plainAgent } from '../../support/fake-agent-plain.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import { stage, type Stage } from '../../support/stage.ts';
import { openPages, type Site } from '../../support/web-site.ts';
import { DECIDE, WAIT, closeAfterTest, startClient } from './support/bridge-stage.ts';
import { type RawClient, textOf, type ToolResult, refusalOf } from './support/raw-client.ts';

const RUN = 'run_agent_tool';

const report = z.looseObject({
  sessionId: z.string(),
  taskId: z.string().nullish(),
  state: z.string(),
  output: z.string(),
  pending: z.array(z.looseObject({ callId: z.string(), shown: z.string(), tool: z.string() })),
});
const metadata = z.looseObject({ metadata: z.object({ toolId: z.string() }) });
const runningMeta = z.object({
  _meta: z.object({ 'mcp-a2a-bridge/toolExecutions': z.tuple([z.object({ toolId: z.string() })]) }),
});
const steps = z.object({ progress: z.number(), total: z.number().optional(), message: z.string() });

/** Serves three linked pages. The response of the third page never ends. */
function linkedPages(): Promise<Site> {
  return openPages({
    '/': '<title>Start</title><p>Extract content here.</p><a href="/two">two</a>',
    '/two': '<title>Two</title><p>More content.</p><a href="/slow">slow</a>',
    '/slow': (_request, response) =>
      void response.writeHead(200, { 'Content-Type': 'text/html' }).write('<p>'),
  });
}

async function crawling(): Promise<{ whole: Stage; client: RawClient; input: Record<string, unknown> }> {
  const site = await linkedPages();
  const whole = await stage({ args: ['--allow-private-host', site.host, '--mode', 'auto'] });
  const input = { url: `${site.origin}/`, query: 'Extract content', maxPages: 10 };
  return { whole, client: await startClient(whole.server), input };
}

function toolIdOf(result: ToolResult): string {
  return metadata.parse(result).metadata.toolId;
}

describe('the tool run_agent_tool', () => {
  test('run_agent_tool starts a task of exactly one call, without a model, and the policy still requires an approval', async () => {
    const whole = await sharedStage();
    const client = await startClient(whole.server);
    // Without a workspace, the bridge names its own working directory.
    const { workspace } = whole.server;
    const input = { path: 'a.txt', content: 'hello' };
    const asked = await client.call(RUN, { tool: 'write-file', input, workspace });
    const waits = report.parse(asked.structuredContent);
    expect(waits).toMatchObject({ state: 'input_required', pending: [{ tool: 'write-file' }] });
    expect(await whole.file('a.txt')).toBeUndefined();
    const done = await client.call(DECIDE, {
      sessionId: waits.sessionId,
      ...actionOf(waits.pending),
      decision: 'approve',
    });
    expect(done.structuredContent).toMatchObject({
      state: 'completed',
      calls: [{ tool: 'write-file', state: 'ok' }],
    });
    expect(await whole.file('a.txt')).toBe('hello');
    expect(toolIdOf(done)).toMatch(/^write-file-/);
    expect(await whole.peer.list()).toHaveLength(1);
  });

  test('run_agent_tool runs a read-only tool at once, and returns its result', async () => {
    const whole = await sharedStage();
    const client = await startClient(whole.server);
    const listed = await client.call(RUN, { tool: 'list-files', input: { path: '.' } });
    expect(report.parse(listed.structuredContent)).toMatchObject({ state: 'completed', pending: [] });
    expect(toolIdOf(listed)).toMatch(/^list-files-/);
  });

  test('run_agent_tool starts no task for an invalid input or an internal tool; for an unknown tool the error lists the tools', async () => {
    const whole = await sharedStage();
    const client = await startClient(whole.server);
    const wrong = await client.call(RUN, { tool: 'write-file', input: { path: 'a.txt' } });
    expect(refusalOf(wrong)).toContain('The input of write-file does not fit: content');
    const own = await client.call(RUN, { tool: 'restore-checkpoint', input: { checkpoint: 'x' } });
    expect(textOf(own)).toContain('cannot call the tool');
    expect(await whole.peer.list()).toEqual([]);
    const unknown = await client.call(RUN, { tool: 'crwl' });
    expect(refusalOf(unknown)).toMatch(/There is no tool crwl\. Tools: .*crawl/);
  });

  test('run_agent_tool refuses an agent that offers no commands, and the error says so', async () => {
    const agent = await plainAgent('1.0');
    closeAfterTest(() => agent.stop());
    const refused = await (await startClient(agent)).call(RUN, { tool: 'crawl' });
    expect(refusalOf(refused)).toContain('offers no commands');
  });

  test('the progress of run_agent_tool says "page 2 of 10" with the total and the toolId, and its value always increases', async () => {
    const { client, input } = await crawling();
    const { answer } = client.send('tools/call', {
      name: RUN,
      arguments: { tool: 'crawl', input },
      _meta: { progressToken: 'crawl' },
    });
    await client.progressed(/page 3 of 10: /);
    const sent = client.notifications.filter(({ method }) => method === 'notifications/progress');
    const last = sent.at(-1)?.params;
    expect(steps.parse(last)).toMatchObject({ progress: 3, total: 10 });
    const { _meta: meta } = runningMeta.parse(last);
    const values = sent.map(({ params }) => steps.parse(params).progress);
    expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));
    // A client can abort the tool with the id of the notification while the call waits.
    const [{ toolId }] = meta['mcp-a2a-bridge/toolExecutions'];
    const aborted = await client.request('tools/abort', { toolId, reason: 'enough pages' });
    expect(aborted.result).toMatchObject({
      success: true,
      message: `Successfully aborted tool execution: ${toolId}`,
    });
    const { result } = await answer;
    expect(JSON.stringify(result)).toContain('enough pages');
    expect(JSON.stringify(result)).toContain('read 2 pages');
  });

  test('run_agent_tool with waitSeconds 0 returns once the tool runs, with metadata.toolId for an abort', async () => {
    const { client, whole, input } = await crawling();
    const started = await client.call(RUN, { tool: 'crawl', input, waitSeconds: 0 });
    expect(started.structuredContent).toMatchObject({ state: 'working' });
    const toolId = toolIdOf(started);
    expect(toolId).toMatch(/^crawl-\d+-[0-9a-f]+$/);
    const aborted = await client.call('abort_tool_execution', { toolId });
    expect(aborted.structuredContent).toEqual({
      success: true,
      message: `Successfully aborted tool execution: ${toolId}`,
    });
    const { sessionId } = report.parse(started.structuredContent);
    const ended = await client.call(WAIT, { sessionId });
    expect(ended.structuredContent).toMatchObject({ state: 'failed', calls: [{ state: 'stopped' }] });
    expect(textOf(ended)).toContain('aborted over MCP');
    expect(await whole.peer.list()).toHaveLength(1);
  });
});
