import { writeFile } from 'node:fs/promises';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import { actionOf } from '../../support/a2a-message.ts';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { A2aClient, UIToolExecutor, type ToolUpdate } from '../../../shared/client/index.ts';
import { newServerHome, homeDirectoryOf } from '../../support/server-program.ts';
import { startServer } from '../../support/server-process.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import { stage } from '../../support/stage.ts';
import { openPages } from '../../support/web-site.ts';
import { CuttingFetch } from './support/cutting-fetch.ts';
import { Watched } from './support/watched.ts';
import { askPerson, plan, shell, write } from '../../support/offline-plan.ts';

const QUICK = { firstMs: 1, mostMs: 20 };
const LONG = (name: string): string => `run \`echo ${name} runs; sleep 600\``;

describe('the client library for an agent, over A2A', () => {
  test('a task starts, waits, continues after an approval with the shown code, and completes', async () => {
    const { server, file } = await sharedStage();
    const client = new A2aClient(server);
    const watched = new Watched();
    const execution = client.start({ text: 'create test.md with hello' }, { onProgress: watched.see });
    expect(client.active).toEqual([execution]);
    const { pending } = await watched.state('waiting');
    expect(pending).toEqual([
      expect.objectContaining({
        tool: 'write-file',
        preview: expect.objectContaining({ type: 'diff', diff: expect.stringContaining('+hello') }),
        decisions: ['approve', 'deny', 'edit'],
      }),
    ]);
    expect(await file('test.md')).toBeUndefined();
    await execution.decide({ ...actionOf(pending), decision: 'approve' });
    const report = await execution.result;
    expect(report).toMatchObject({ state: 'completed', pending: [], tools: [] });
    expect(report.output).toContain('test.md');
    expect(await file('test.md')).toBe('hello');
    expect(watched.activities).toEqual(['tool.requested', 'tool.decided', 'tool.started', 'tool.finished']);
    expect(client.active).toEqual([]);
  });

  test('the files of a request reach the server with the task', async () => {
    const { server, peer } = await stage();
    const content = new TextEncoder().encode('The colour is teal.');
    const execution = new A2aClient(server).start({ text: 'say hi', files: [{ name: 'notes.md', content }] });
    const { state, taskId } = await execution.result;
    expect(state).toBe('completed');
    expect(JSON.stringify(await peer.call('GetTask', { id: taskId }))).toContain(
      '[file notes.md]\\nThe colour is teal.',
    );
  });

  test('startCommand runs a command of the agent in a session; an unknown command starts no task', async () => {
    const { server } = await stage();
    const client = new A2aClient(server);
    const { sessionId, state } = await client.start({ text: 'say hi' }).result;
    expect(state).toBe('completed');
    const listed = await client.startCommand({ command: 'checkpoint', args: ['list'], sessionId }).result;
    expect(listed).toMatchObject({ state: 'completed', sessionId });
    expect(listed.output).toContain('No tool has changed a file');
    await expect(client.startCommand({ command: 'chekpoint' }).result).rejects.toMatchObject({
      reason: 'UNKNOWN_COMMAND',
    });
  });

  test('executeTool calls one tool under the policy and reports progress; getActiveExecutions lists the call and abortTool stops it', async () => {
    const site = await openPages({
      '/': '<title>Start</title><p>Extract content here.</p><a href="/slow">slow</a>',
      '/slow': (_request, response) =>
        void response.writeHead(200, { 'Content-Type': 'text/html' }).write('<p>'),
    });
    const { server } = await stage({ args: ['--allow-private-host', site.host] });
    const client = new A2aClient(server);
    const updates: ToolUpdate[] = [];
    const second = new Deferred<void>();
    const crawl = client.executeTool(
      'crawl',
      { url: `${site.origin}/`, query: 'extract content', maxPages: 10 },
      {
        onProgress(update) {
          updates.push(update);
          if (update.progress === 2) second.resolve();
        },
        onPending: (execution) =>
          void execution.decide({ ...actionOf(execution.report?.pending ?? []), decision: 'approve' }),
      },
    );
    await second.promise;
    const [running] = client.getActiveExecutions();
    expect(updates).toContainEqual({
      toolId: running?.toolId,
      message: `page 2 of 10: ${site.origin}/slow`,
      progress: 2,
      total: 10,
    });
    expect(await client.abortTool(running?.toolId ?? '', 'enough')).toMatchObject({ success: true });
    await expect(crawl).resolves.toMatchObject({
      state: 'failed',
      message: expect.stringContaining('enough'),
    });
    expect(client.getActiveExecutions()).toEqual([]);
  });

  test('executeWithUI runs a tool under the caller’s id, and cancelOperation ends the tool', async () => {
    const { server } = await sharedStage();
    const executor = new UIToolExecutor(new A2aClient(server));
    const started = new Deferred<void>();
    let cancelled = 0;
    const result = executor.executeWithUI(
      'operation-1',
      'wait',
      { seconds: 600 },
      ({ toolId }) => toolId !== null && started.resolve(),
      () => (cancelled += 1),
    );
    await started.promise;
    expect(executor.cancelOperation('operation-1')).toBe(true);
    await expect(result).resolves.toMatchObject({ state: 'canceled' });
    expect(cancelled).toBe(1);
  });

  test('after the trust is revoked, the next call of the tool waits again', async () => {
    const { server } = await sharedStage();
    const watched = new Watched();
    const execution = new A2aClient(server).start(
      { text: plan(write('t1.txt', 'a'), askPerson('More?', ['yes']), write('t2.txt', 'b')) },
      { onProgress: watched.see },
    );
    const first = await watched.state('waiting');
    await execution.decide({ ...actionOf(first.pending), decision: 'approve', scope: 'tool' });
    const asks = await watched.asking('ask-person');
    await execution.revoke();
    await execution.decide({ ...actionOf(asks.pending), decision: 'answer', answer: 'yes' });
    const again = await watched.until((progress) =>
      progress.type === 'state' && progress.report.pending.some(({ title }) => title.includes('t2.txt'))
        ? progress.report
        : undefined,
    );
    expect(again.pending).toMatchObject([{ tool: 'write-file' }]);
    await execution.cancel();
  });

  test('the edited content is written instead of the proposed content; a second decision is refused with its error name', async () => {
    const { server, file } = await sharedStage();
    const watched = new Watched();
    const execution = new A2aClient(server).start(
      { text: 'create test.md with hello' },
      { onProgress: watched.see },
    );
    const { pending } = await watched.state('waiting');
    const { callId, shown } = actionOf(pending);
    await execution.decide({ callId, shown, decision: 'edit', content: 'goodbye' });
    await execution.result;
    expect(await file('test.md')).toBe('goodbye');
    await expect(execution.decide({ callId, shown, decision: 'deny', reason: 'late' })).rejects.toMatchObject(
      {
        code: 'refused',
        reason: expect.stringMatching(/ALREADY_DECIDED|TASK_ENDED/),
        retryable: false,
      },
    );
  });

  test('the person answers a question with one of its choices', async () => {
    const { server } = await sharedStage();
    const watched = new Watched();
    const execution = new A2aClient(server).start(
      { text: plan(askPerson('Which colour?', ['red', 'blue'])) },
      { onProgress: watched.see },
    );
    const { pending, question } = await watched.state('waiting');
    expect(question).toBeNull();
    expect(pending).toMatchObject([
      {
        reason: 'question',
        preview: { type: 'question', text: 'Which colour?', choices: [{ label: 'red' }, { label: 'blue' }] },
        decisions: ['answer', 'deny'],
      },
    ]);
    const { callId, shown } = actionOf(pending);
    await expect(
      execution.decide({ callId, shown, decision: 'answer', answer: 'green' }),
    ).rejects.toMatchObject({
      reason: 'INVALID_DECISION',
    });
    await execution.decide({ callId, shown, decision: 'answer', answer: 'blue' });
    const { state, output } = await execution.result;
    expect(state).toBe('completed');
    expect(output).toContain('blue');
  });

  test('the person answers a question without choices with text', async () => {
    const home = await newServerHome();
    const script = join(homeDirectoryOf(home), 'script.json');
    await writeFile(
      script,
      JSON.stringify({ rules: [], otherwise: [{ inputRequired: 'Which colour?' }, { text: 'Painted.' }] }),
    );
    const server = await startServer({ home, args: ['--agent', 'scripted', script] });
    const watched = new Watched();
    const execution = new A2aClient(server).start({ text: 'paint it' }, { onProgress: watched.see });
    expect(await watched.state('waiting')).toMatchObject({ question: 'Which colour?', pending: [] });
    await execution.say('red');
    await expect(execution.result).resolves.toMatchObject({ state: 'completed', output: 'Painted.' });
  });

  test('R40 R41 R42 the client lists running executions; an abort stops only its own execution; a second abort reports that it had no effect', async () => {
    const { server } = await sharedStage();
    const client = new A2aClient(server);
    const started = ['one', 'two'].map((name) => {
      const watched = new Watched();
      const execution = client.start({ text: LONG(name), autoExecute: true }, { onProgress: watched.see });
      return { execution, running: watched.output(`${name} runs`) };
    });
    const [one = '', two = ''] = await Promise.all(started.map(({ running }) => running));
    expect((await client.tools()).map(({ toolId }) => toolId).toSorted()).toEqual([one, two].toSorted());
    expect(await client.abortTool(one, 'enough of it')).toMatchObject({ success: true });
    await started[0]?.execution.result;
    expect(await client.tools()).toEqual([
      expect.objectContaining({ toolId: two, tool: 'run-shell-command', ageMs: expect.any(Number) }),
    ]);
    expect(await client.abortTool(one)).toMatchObject({ success: false });
    expect(await client.abortTool('../unknown/tool')).toMatchObject({ success: false });
    expect(await client.abortAllTools()).toEqual([expect.objectContaining({ success: true })]);
    await started[1]?.execution.result;
    expect([await client.tools(), client.active]).toEqual([[], []]);
  });

  test('R45 aborting the signal cancels the task and its tools; cancelAll ends all executions of the client', async () => {
    const { server, peer } = await sharedStage();
    const client = new A2aClient(server);
    const controller = new AbortController();
    const begin = (name: string, signal?: AbortSignal) => {
      const watched = new Watched();
      const execution = client.start(
        { text: LONG(name), autoExecute: true },
        { signal, onProgress: watched.see },
      );
      return { execution, running: watched.output(`${name} runs`) };
    };
    const [first, second, third] = [begin('one', controller.signal), begin('two'), begin('three')];
    await Promise.all([first, second, third].map(({ running }) => running));
    controller.abort('the person pressed stop');
    await expect(first.execution.result).resolves.toMatchObject({
      state: 'canceled',
      message: expect.stringContaining('the person pressed stop'),
      tools: [],
    });
    expect(client.active).toHaveLength(2);
    await client.cancelAll('going home');
    for (const { execution } of [second, third]) {
      const { state, taskId } = await execution.result;
      expect(state).toBe('canceled');
      expect((await peer.task(taskId ?? '')).statusText).toContain('going home');
    }
  });

  test('R25 after a cut of the connection at any event, the client misses no event and repeats none', async () => {
    const { server } = await sharedStage();
    const text = plan({ say: 'one two three' }, shell('echo from the tool'), { say: 'four five six' });
    const request = { text, autoExecute: true };
    const whole = new Watched();
    const { output } = await new A2aClient(server).start(request, { onProgress: whole.see }).result;
    for (let events = 1; events < 8; events += 1) {
      const cutting = new CuttingFetch();
      cutting.cutAfter = (asked) => (/message:stream|:subscribe/.test(asked) ? events : undefined);
      const client = new A2aClient({ ...server, fetch: cutting.fetch, retryPolicy: QUICK });
      const watched = new Watched();
      const report = await client.start(request, { onProgress: watched.see }).result;
      expect(report).toMatchObject({ state: 'completed', output });
      expect([watched.text, watched.activities]).toEqual([whole.text, whole.activities]);
      expect(cutting.asked.length).toBeGreaterThan(1);
    }
  });

  test('R27 if the answer to a message is lost, the client sends the message again, and only one task starts', async () => {
    const { server, peer } = await sharedStage();
    const cutting = new CuttingFetch();
    let lost = 0;
    cutting.cutAfter = (asked) => (asked.endsWith('message:stream') && (lost += 1) <= 3 ? 0 : undefined);
    const client = new A2aClient({ ...server, fetch: cutting.fetch, retryPolicy: QUICK });
    const report = await client.start({ text: 'say hello' }).result;
    expect(report.state).toBe('completed');
    expect(cutting.asked.filter((asked) => asked.endsWith('message:stream'))).toHaveLength(4);
    expect(await peer.list()).toHaveLength(1);
  });

  test('R20 if the server is killed while a call waits, the client finds the call after the restart, and the person decides', async () => {
    const first = await startServer();
    const watched = new Watched();
    const client = new A2aClient({ ...first, retryPolicy: { attempts: 100, firstMs: 20, mostMs: 100 } });
    const execution = client.start({ text: 'create test.md with hello' }, { onProgress: watched.see });
    const { pending } = await watched.state('waiting');
    await first.kill();
    await watched.until(({ type }) => (type === 'reconnecting' ? true : undefined));
    await startServer({ home: first, args: ['--port', new URL(first.url).port] });
    // The task waits, so it has no event of its own.
    await watched.until(({ type }) => (type === 'reconnected' ? true : undefined));
    await execution.decide({ ...actionOf(pending), decision: 'approve' });
    await expect(execution.result).resolves.toMatchObject({ state: 'completed' });
  });

  test('R24 a client that detached resumes by task id: it gets the task’s state first, then each event after the cursor once', async () => {
    const { server } = await sharedStage();
    // The call must return even if no event occurs.
    const client = new A2aClient({ ...server, quietMs: 3_600_000 });
    const before = new Watched();
    const text = plan({ say: 'one' }, write('test.md', 'hello'), { say: 'two' });
    const execution = client.start({ text }, { onProgress: before.see });
    const { taskId, cursor, pending } = await before.state('waiting');
    execution.detach();
    await expect(execution.result).rejects.toMatchObject({ code: 'detached' });
    const id = taskId ?? '';
    const after = new Watched();
    const back = client.attach({ taskId: id, after: cursor ?? 0 }, { onProgress: after.see });
    await after.state('waiting');
    await back.decide({ ...actionOf(pending), decision: 'approve' });
    const { output, state } = await back.result;
    expect(state).toBe('completed');
    const fromStart = new Watched();
    const ended = await client.attach({ taskId: id, after: 0 }, { onProgress: fromStart.see }).result;
    expect(ended).toMatchObject({ state, output });
    expect([before.text + after.text, [...before.activities, ...after.activities]]).toEqual([
      fromStart.text,
      fromStart.activities,
    ]);
    await expect(client.attach({ taskId: id }).result).resolves.toMatchObject({ state, output });
  });

  test('R26 a cursor beyond the end, an unknown task, a wrong token and an unreachable server give errors with names', async () => {
    const { server } = await stage();
    const client = new A2aClient({ ...server, retryPolicy: QUICK });
    const { taskId } = await client.start({ text: 'create test.md with hello', readOnly: true }).result;
    await expect(client.attach({ taskId: taskId ?? '', after: 1_000_000 }).result).rejects.toMatchObject({
      code: 'refused',
      reason: 'INVALID_CURSOR',
    });
    await expect(client.attach({ taskId: 'unknown' }).result).rejects.toMatchObject({
      code: 'refused',
      status: 404,
      reason: 'UNKNOWN_TASK',
    });
    const stranger = new A2aClient({ url: server.url, token: 'wrong-token-0123456789' });
    await expect(stranger.start({ text: 'x' }).result).rejects.toMatchObject({
      code: 'refused',
      status: 401,
      reason: 'UNAUTHENTICATED',
    });
    await server.stop();
    const impatient = new A2aClient({ ...server, retryPolicy: { ...QUICK, attempts: 2 } });
    await expect(impatient.start({ text: 'x' }).result).rejects.toMatchObject({ code: 'unreachable' });
    await expect(impatient.tools()).rejects.toMatchObject({ code: 'unreachable', retryable: true });
  });
});
