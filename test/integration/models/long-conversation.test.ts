/** A task's conversation outgrows its model's window, over the real wire. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Models } from '../../../a2a-server/models/model.ts';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { pendingActions } from '../../../a2a-server/task/pending.ts';
import { updateTodos } from '../../../a2a-server/tools/builtin/update-todos.ts';
import { writeFile } from '../../../a2a-server/tools/builtin/write-file.ts';
import type { Tool } from '../../../a2a-server/tools/tool.ts';
import { defineTool } from '../../../a2a-server/tools/builtin/define-tool.ts';
import type { FakeModelEndpoint, Received, Reply } from '../../support/fake-model-endpoint.ts';
import {
  ADA,
  decisionMessage,
  untilIdle,
  messageOf,
  untilSettled,
  startTaskService,
  type RunningService,
} from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { FAKE_MODEL, modelEndpoint, modelsAt } from '../../support/model-stage.ts';

const WINDOW = 8_000;
const SUMMARY = 'Pages were read; none says anything.';

/** Returns a page of the requested length. */
const readPage = defineTool({
  name: 'read-page',
  description: 'reads',
  sideEffect: 'none',
  schema: z.strictObject({ page: z.number(), chars: z.number() }),
  timeoutMs: () => 60_000,
  title: () => 'Read',
  show: async () => ({ preview: { type: 'json', value: {} }, basis: null }),
  run: async ({ page, chars }) => ({ text: `page ${page} ${'word '.repeat(chars / 5)}`, summary: 'read' }),
});

let endpoint: FakeModelEndpoint;
beforeEach(async () => {
  endpoint = await modelEndpoint();
});

function models(): Models {
  const contextWindow = { [FAKE_MODEL]: WINDOW };
  return modelsAt(endpoint, { contextWindow, prices: { [FAKE_MODEL]: { input: 1_000_000, output: 0 } } });
}

async function start(...tools: Tool[]) {
  const where = { stateDir: await temporaryDirectory(), workspace: await temporaryDirectory() };
  return {
    where,
    service: await startTaskService({ ...where, models: models(), tools: [readPage, ...tools] }),
  };
}

function sent({ body }: Received): string {
  return JSON.stringify(body);
}

function isSummary(request: Received): boolean {
  return sent(request).includes('<transcript>');
}

function tokensIn(request: Received): number {
  return Math.ceil(sent(request).length / 4);
}

/** Reads this many pages of this length, one per turn, and then ends. */
function reads(pages: number, chars: number): (request: Received) => Reply {
  let page = 0;
  return (request) => {
    const inputTokens = tokensIn(request);
    if (isSummary(request)) return { type: 'turn', turn: { text: [SUMMARY], inputTokens } };
    page += 1;
    const call = { id: `c${page}`, name: 'read-page', arguments: JSON.stringify({ page, chars }) };
    const turn = page > pages ? { text: ['All read.'] } : { calls: [call] };
    return { type: 'turn', turn: { ...turn, inputTokens } };
  };
}

async function eventsOf({ tasks }: RunningService, taskId: string): Promise<TaskEvent[]> {
  const events: TaskEvent[] = [];
  const { signal } = new AbortController();
  for await (const batch of tasks.follow(taskId, 0, { until: 'settled', signal }))
    events.push(...batch.map(({ event }) => event));
  return events;
}

function ofContext(events: readonly TaskEvent[]): string[] {
  return events.map(({ type }) => type).filter((type) => type.startsWith('context.'));
}

describe('a conversation that outgrows its window', () => {
  it('a long conversation is summarised by its model as it grows, in turns without tools, and the cost is counted', async () => {
    const { service } = await start();
    endpoint.otherwise(reads(8, 6_000));
    const accepted = await service.tasks.send(messageOf('Read all the pages.'));
    const { status, spending } = await untilSettled(service.tasks, accepted);
    expect(status).toEqual({ state: 'completed' });
    const summaries = endpoint.received.filter(isSummary);
    expect(summaries.length).toBeGreaterThan(1);
    for (const request of summaries) expect(sent(request)).not.toContain('"tools"');
    const last = endpoint.received.at(-1);
    if (last === undefined) throw new Error('nothing was asked');
    for (const shown of ['Read all the pages.', SUMMARY, 'page 8']) expect(sent(last)).toContain(shown);
    expect(sent(last)).not.toContain('page 1 ');
    for (const request of endpoint.received) expect(tokensIn(request)).toBeLessThan(WINDOW);
    const all = endpoint.received.reduce((sum, request) => sum + tokensIn(request), 0);
    expect(spending['openai-compatible:fake']).toMatchObject({ inputTokens: all, usd: all });
  });

  it('a long conversation keeps decisions, reasons, file names and the open to-dos, even if the summary has none of them', async () => {
    const { service } = await start(writeFile, updateTodos);
    const go = reads(8, 6_000);
    const todos = [{ text: 'ask about the licence', status: 'pending' }];
    const first = [
      { id: 'w', name: 'write-file', arguments: JSON.stringify({ path: 'notes.md', content: 'x' }) },
      { id: 'd', name: 'write-file', arguments: JSON.stringify({ path: 'secret.md', content: 'x' }) },
      { id: 'p', name: 'update-todos', arguments: JSON.stringify({ todos }) },
    ];
    endpoint.script({ type: 'turn', turn: { calls: first, inputTokens: 100 } });
    endpoint.otherwise(go);
    const accepted = await service.tasks.send(messageOf('Read all the pages.'));
    const parked = await untilSettled(service.tasks, accepted);
    const [write, secret] = pendingActions(parked);
    if (write === undefined || secret === undefined) throw new Error('two calls must wait');
    const continued = await service.tasks.send(
      decisionMessage(
        parked,
        { callId: write.callId, decision: 'approve' },
        { callId: secret.callId, decision: 'deny', reason: 'That name tells too much.' },
      ),
    );
    const ended = await untilSettled(service.tasks, continued);
    expect(ended.status).toEqual({ state: 'completed' });
    expect(ended.context.summary?.text).toContain(SUMMARY);
    const last = endpoint.received.filter((request) => !isSummary(request)).at(-1);
    if (last === undefined) throw new Error('nothing was asked');
    for (const fact of ['notes.md', 'secret.md', 'That name tells too much.', 'ask about the licence'])
      expect(sent(last)).toContain(fact);
    expect(sent(last)).not.toContain('page 1 ');
  });

  it('a message that fills more than half of the window is refused, and the session goes on', async () => {
    const { service } = await start();
    endpoint.otherwise(() => ({ type: 'turn', turn: { text: ['Done.'] } }));
    const long = 'word '.repeat(4_000);
    await expect(service.tasks.send(messageOf(long))).rejects.toMatchObject({
      reason: 'TOO_LARGE',
      message: expect.stringMatching(/may have 4000, half of .* Put the text into a file/),
    });
    const accepted = await service.tasks.send(messageOf('Hello'));
    expect((await untilSettled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
    const { sessionId } = accepted;
    await expect(service.tasks.send(messageOf(long, { sessionId }))).rejects.toMatchObject({
      reason: 'TOO_LARGE',
    });
    const next = await service.tasks.send(messageOf('Again', { sessionId }));
    expect((await untilSettled(service.tasks, next)).status).toEqual({ state: 'completed' });
  });

  it('a message that the provider refuses as too long does not stop the next task of its session', async () => {
    const { service } = await start();
    const long = 'word '.repeat(2_000);
    endpoint.otherwise((request) =>
      sent(request).length > 8_000
        ? { type: 'status', status: 400, body: { error: { message: 'maximum context length exceeded' } } }
        : { type: 'turn', turn: { text: ['Done.'] } },
    );
    const first = await service.tasks.send(messageOf(`Begin. ${long} End.`));
    expect((await untilSettled(service.tasks, first)).status).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('does not fit into the context window'),
    });
    const next = await service.tasks.send(messageOf('Hello', { sessionId: first.sessionId }));
    expect((await untilSettled(service.tasks, next)).status).toEqual({ state: 'completed' });
    expect(endpoint.received.map(sent).at(-1)).toContain('Begin. word');
  });

  it('R22 gives the next process the same prompt', async () => {
    const { service, where } = await start();
    const go = reads(5, 6_000);
    const stuck = new Promise<Received>((resolve) => {
      endpoint.otherwise((request) => {
        if (!sent(request).includes('page 5 ') || isSummary(request)) return go(request);
        resolve(request);
        return { type: 'turn', turn: {}, cut: { frames: 1, ending: 'silence' } };
      });
    });
    const accepted = await service.tasks.send(messageOf('Read all the pages.'));
    const before = await stuck;
    expect(sent(before)).toContain(SUMMARY);
    await service.stop();
    endpoint.otherwise(go);
    const next = await startTaskService({
      ...where,
      models: models(),
      tools: [readPage],
      clock: service.clock,
    });
    await next.tasks.recover();
    expect((await untilSettled(next.tasks, accepted)).status).toEqual({ state: 'completed' });
    expect(endpoint.received.at(-1)?.body).toEqual(before.body);
  });

  it('clips a single result that is too long, without asking a person', async () => {
    const { service } = await start();
    endpoint.otherwise(reads(1, 60_000));
    const accepted = await service.tasks.send(messageOf('Read the page.'));
    expect((await untilSettled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
    expect(ofContext(await eventsOf(service, accepted.taskId))).toEqual(['context.clipped']);
    expect(endpoint.received).toHaveLength(2);
    expect(endpoint.received.map(sent).at(-1)).toContain('characters left out');
  });

  it('a long conversation is cut if the summary is refused, and the task continues', async () => {
    const { service } = await start();
    const go = reads(8, 6_000);
    endpoint.otherwise((request) =>
      isSummary(request) ? { type: 'status', status: 400, body: { error: { message: 'no' } } } : go(request),
    );
    const accepted = await service.tasks.send(messageOf('Read all the pages.'));
    expect((await untilSettled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
    const events = await eventsOf(service, accepted.taskId);
    expect(ofContext(events)).toContain('context.clipped');
    expect(events.filter((event) => event.type === 'context.summarised' && event.model !== null)).toEqual([]);
  });

  it('A4 a long conversation is not summarised after a cancel of its task', async () => {
    const { service } = await start();
    const go = reads(8, 6_000);
    const asked = new Promise<Received>((resolve) => {
      endpoint.otherwise((request) => {
        if (!isSummary(request)) return go(request);
        resolve(request);
        return { type: 'turn', turn: { text: ['Well'] }, cut: { frames: 2, ending: 'silence' } };
      });
    });
    const { taskId } = await service.tasks.send(messageOf('Read all the pages.'));
    const { closedEarly } = await asked;
    await service.tasks.cancel(taskId, { principal: ADA, channel: 'test' }, 'enough');
    expect(await closedEarly).toBe(true);
    await untilIdle(service.tasks);
    expect(ofContext(await eventsOf(service, taskId))).toEqual([]);
    expect(service.clock.pending).toBe(0);
  });
});

describe('a provider that refuses the length of a prompt', () => {
  const TOO_LONG: Reply = {
    type: 'status',
    status: 400,
    body: {
      error: {
        message: "This model's maximum context length is 4096 tokens.",
        code: 'context_length_exceeded',
      },
    },
  };

  it('a provider that refuses the length of a prompt gets a shorter prompt', async () => {
    const { service } = await start();
    const go = reads(2, 6_000);
    let refused = 0;
    endpoint.otherwise((request) => {
      if (sent(request).length > 10_000 && !isSummary(request)) {
        refused += 1;
        return TOO_LONG;
      }
      return go(request);
    });
    const accepted = await service.tasks.send(messageOf('Read all the pages.'));
    expect((await untilSettled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
    const context = ofContext(await eventsOf(service, accepted.taskId));
    expect([refused, context[0], context.length]).toEqual([1, 'context.exceeded', 2]);
  });

  it('a provider that always refuses the length of a prompt fails the task, with an error that gives the next step', async () => {
    const { service } = await start();
    const go = reads(1, 6_000);
    endpoint.otherwise((request) => (sent(request).includes('page 1 ') ? TOO_LONG : go(request)));
    const accepted = await service.tasks.send(messageOf('Read all the pages.'));
    expect((await untilSettled(service.tasks, accepted)).status).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('cannot be shortened'),
    });
    expect(endpoint.received).toHaveLength(3);
  });
});
