/** A task's conversation outgrows its model's window, over the real wire. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { writeFile as writeToDisk } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Models } from '../../../a2a-server/models/model.ts';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { pendingActions } from '../../../a2a-server/task/pending.ts';
import { trailingTurn, type Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { askPersonTool } from '../../../a2a-server/tools/builtin/ask-person.ts';
import { readFileTool } from '../../../a2a-server/tools/builtin/read-file.ts';
import { updateTodosTool } from '../../../a2a-server/tools/builtin/update-todos.ts';
import { writeFileTool } from '../../../a2a-server/tools/builtin/write-file.ts';
import type { Tool } from '../../../a2a-server/tools/tool.ts';
import type { FakeModelEndpoint, Received, Reply } from '../../support/fake-model-endpoint.ts';
import {
  ADA,
  decisionMessage,
  eventsOf,
  messageOf,
  sendUntilSettled,
  startTaskService,
  untilIdle,
  untilSettled,
  type RunningService,
} from '../../support/task-service.ts';
import { testTool } from '../../support/look-tool.ts';
import { FAKE_MODEL, modelEndpoint, modelsAt } from '../../support/model-stage.ts';

const WINDOW = 8_000;
const readAll = () => messageOf('Read all the pages.');
const SUMMARY = 'Pages were read; none says anything.';

/** Returns a page of the requested length. */
const readPage = testTool({
  name: 'read-page',
  schema: z.strictObject({ page: z.number(), chars: z.number() }),
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

const start = (...tools: Tool[]): Promise<RunningService> =>
  startTaskService({ models: models(), tools: [readPage, ...tools] });

/** Plays a turn whose calls have these names and inputs. */
function scriptCalls(...calls: [name: string, input: object][]): void {
  const made = calls.map(([name, input], n) => ({
    id: `first-${n}`,
    name,
    arguments: JSON.stringify(input),
  }));
  endpoint.script({ type: 'turn', turn: { calls: made, inputTokens: 100 } });
}

const WRITE_NOTES: [string, object] = ['write-file', { path: 'notes.md', content: 'x' }];
const WRITE_SECRET: [string, object] = ['write-file', { path: 'secret.md', content: 'x' }];
const ASK_LICENCE: [string, object] = ['ask-person', { question: 'Which licence does it get?' }];

/** Approves the call that writes the notes. Denies all others, each with a reason. */
function decideFirstCalls({ tasks }: RunningService, parked: Snapshot): Promise<Snapshot> {
  const reasons = [undefined, 'That name tells too much.', 'I decide in May.'];
  const decisions = pendingActions(parked).map(({ callId }, at) => ({
    callId,
    decision: at === 0 ? ('approve' as const) : ('deny' as const),
    reason: reasons[at],
  }));
  return sendUntilSettled(tasks, decisionMessage(parked, ...decisions));
}

/** Asks what the model knows about the earlier work. */
async function remembered({ tasks }: RunningService, sessionId: string): Promise<string[]> {
  const answers: string[] = [];
  for (const text of ['WHICH FILES?', 'WHAT DID I DECIDE, AND WHY?', 'WHAT IS OPEN?'])
    answers.push(trailingTurn(await sendUntilSettled(tasks, messageOf(text, { sessionId })))?.text ?? '');
  return answers;
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

const chatRequest = z.object({ messages: z.array(z.object({ content: z.unknown() })) });

/** Answers three questions with lines of the prompt. The prompt is all that this model knows. */
function answerFromPrompt({ body, ...request }: Received): Reply | undefined {
  if (isSummary({ body, ...request })) return undefined;
  const contents = chatRequest
    .parse(body)
    .messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
  const lines = contents.slice(0, -1).flatMap((content) => content.split(/\n|\\n/u));
  const patterns: Record<string, RegExp> = {
    'WHICH FILES?': /\b\w+\.md\b/u,
    'WHAT DID I DECIDE, AND WHY?': /^- (denied|changed and approved|Write)/u,
    'WHAT IS OPEN?': /\?|\[pending\]/u,
  };
  const [, pattern] = Object.entries(patterns).find(([asked]) => contents.at(-1)?.includes(asked)) ?? [];
  if (pattern === undefined) return undefined;
  const text = lines.filter((each) => pattern.test(each)).join('\n');
  return {
    type: 'turn',
    turn: { text: [text || 'I do not know.'], inputTokens: tokensIn({ body, ...request }) },
  };
}

/** Answers like a provider that counts one token for three bytes and refuses a longer prompt. */
function answersWithin(longest: number): (request: Received) => Reply {
  return (request) => {
    const inputTokens = Math.ceil(sent(request).length / 3);
    if (inputTokens > longest)
      return { type: 'status', status: 400, body: { error: { message: 'maximum context length exceeded' } } };
    return { type: 'turn', turn: { text: [isSummary(request) ? SUMMARY : 'Done.'], inputTokens } };
  };
}

function rolesIn(request: Received | undefined): string[] {
  const body = z.object({ messages: z.array(z.object({ role: z.string() })) }).parse(request?.body);
  return body.messages.map(({ role }) => role);
}

function ofContext(events: readonly TaskEvent[]): string[] {
  return events.map(({ type }) => type).filter((type) => type.startsWith('context.'));
}

describe('a conversation that grows beyond its context window', () => {
  it('the model summarises a growing long conversation in turns without tools, and the task’s cost includes these turns', async () => {
    const service = await start();
    endpoint.otherwise(reads(8, 6_000));
    const accepted = await service.tasks.send(readAll());
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

  it('a long conversation keeps decisions, reasons, file names and open to-dos, even if the summary contains none of them', async () => {
    const service = await start(writeFileTool, updateTodosTool);
    const go = reads(8, 6_000);
    const todos = [{ text: 'ask about the licence', status: 'pending' }];
    scriptCalls(WRITE_NOTES, WRITE_SECRET, ['update-todos', { todos }]);
    endpoint.otherwise(go);
    const ended = await decideFirstCalls(service, await sendUntilSettled(service.tasks, readAll()));
    expect(ended.status).toEqual({ state: 'completed' });
    expect(ended.context.summary?.text).toContain(SUMMARY);
    const last = endpoint.received.filter((request) => !isSummary(request)).at(-1);
    if (last === undefined) throw new Error('nothing was asked');
    for (const fact of ['notes.md', 'secret.md', 'That name tells too much.', 'ask about the licence'])
      expect(sent(last)).toContain(fact);
    expect(sent(last)).not.toContain('page 1 ');
  });

  it('after a summary, a client that asks which files, which decisions and what is open gets all of them', async () => {
    const service = await start(writeFileTool, readFileTool, askPersonTool);
    await writeToDisk(join(service.workspace, 'plan.md'), 'The plan.');
    const go = reads(8, 6_000);
    scriptCalls(['read-file', { path: 'plan.md' }], WRITE_NOTES, WRITE_SECRET, ASK_LICENCE);
    endpoint.otherwise((request) => answerFromPrompt(request) ?? go(request));
    const parked = await sendUntilSettled(service.tasks, readAll());
    const { status, context, sessionId } = await decideFirstCalls(service, parked);
    expect([status, context.summary === null]).toEqual([{ state: 'completed' }, false]);
    const [files, decisions, open] = await remembered(service, sessionId);
    for (const name of ['plan.md', 'notes.md', 'secret.md']) expect(files).toContain(name);
    expect(decisions).toMatch(/secret\.md.*That name tells too much/u);
    expect(open).toMatch(/Which licence does it get\?.*I decide in May/u);
    expect(endpoint.received.map(sent).at(-1)).not.toContain('page 1 ');
  });

  it('after several summaries, a client that asks about an earlier task of the session gets its files, decisions and open questions', async () => {
    const service = await start(writeFileTool, askPersonTool);
    scriptCalls(WRITE_NOTES, WRITE_SECRET, ASK_LICENCE);
    endpoint.script({ type: 'turn', turn: { text: ['Written.'], inputTokens: 200 } });
    const parked = await sendUntilSettled(service.tasks, messageOf('Begin the notes.'));
    const { sessionId } = await decideFirstCalls(service, parked);
    for (const text of ['Read the pages.', 'Read them again.']) {
      const go = reads(8, 6_000);
      endpoint.otherwise((request) => answerFromPrompt(request) ?? go(request));
      const { status } = await sendUntilSettled(service.tasks, messageOf(text, { sessionId }));
      expect(status).toEqual({ state: 'completed' });
    }
    expect(endpoint.received.filter(isSummary).length).toBeGreaterThan(3);
    const [files, decisions, open] = await remembered(service, sessionId);
    for (const name of ['notes.md', 'secret.md']) expect(files).toContain(name);
    expect(decisions).toMatch(/secret\.md.*That name tells too much/u);
    expect(open).toMatch(/Which licence does it get\?.*I decide in May/u);
  });

  it('a message that is too long for the window is refused, and the session continues with its earlier turns', async () => {
    const service = await start();
    endpoint.otherwise(() => ({ type: 'turn', turn: { text: ['Done and dusted.'] } }));
    const long = 'word '.repeat(4_000);
    await expect(service.tasks.send(messageOf(long))).rejects.toMatchObject({
      reason: 'TOO_LARGE',
      message: expect.stringMatching(/may have 3\d{3}: .* window of 8000.* Put the text into a file/),
    });
    const { status, sessionId } = await sendUntilSettled(service.tasks, messageOf('Hello'));
    expect(status).toEqual({ state: 'completed' });
    await expect(service.tasks.send(messageOf(long, { sessionId }))).rejects.toMatchObject({
      reason: 'TOO_LARGE',
    });
    const again = await sendUntilSettled(service.tasks, messageOf('Again', { sessionId }));
    expect(again.status).toEqual({ state: 'completed' });
    expect(endpoint.received).toHaveLength(2);
    expect(rolesIn(endpoint.received.at(-1))).toEqual(['system', 'user', 'assistant', 'user']);
    for (const earlier of ['Hello', 'Done and dusted.', 'Again'])
      expect(endpoint.received.map(sent).at(-1)).toContain(earlier);
  });

  it('the instructions of the workspace and the tools leave less of the window for a message', async () => {
    const service = await start({ ...readPage, name: 'large', description: 'word '.repeat(1_500) });
    await writeToDisk(join(service.workspace, 'AGENTS.md'), 'word '.repeat(800));
    endpoint.otherwise(answersWithin(WINDOW - 1_000));
    const fits = 'word '.repeat(700);
    await expect(service.tasks.send(messageOf(fits.repeat(2)))).rejects.toMatchObject({
      reason: 'TOO_LARGE',
      message: expect.stringMatching(/instructions and tools take about 4\d{3}/),
    });
    expect((await sendUntilSettled(service.tasks, messageOf(fits))).status).toEqual({ state: 'completed' });
  });

  it.each([
    ['a PDF of 3 MB', 'application/pdf', 3_000_000, 1],
    ['twenty images', 'image/png', 100_000, 20],
  ] as const)(
    '%s in a message counts, so a model with a small window refuses it',
    async (_, mediaType, bytes, many) => {
      const modes = { contextWindow: { [FAKE_MODEL]: WINDOW }, inputModes: { [FAKE_MODEL]: [mediaType] } };
      const service = await startTaskService({ models: modelsAt(endpoint, modes), tools: [readPage] });
      const incoming = messageOf('Look.');
      const files = Array.from({ length: many }, (__, index) => ({
        type: 'stored-file' as const,
        file: { hash: String(index).repeat(64).slice(0, 64), bytes, mediaType },
      }));
      const message = { ...incoming.message, parts: [...incoming.message.parts, ...files] };
      await expect(service.tasks.send({ ...incoming, message })).rejects.toMatchObject({
        reason: 'TOO_LARGE',
        message: expect.stringMatching(/fewer or smaller files/),
      });
    },
  );

  it('several long messages in one session: a summary replaces the answered messages', async () => {
    const service = await start();
    endpoint.otherwise(answersWithin(WINDOW - 1_000));
    const long = 'word '.repeat(2_000);
    let sessionId: string | undefined;
    for (const name of ['FIRST', 'SECOND', 'THIRD']) {
      const accepted = await service.tasks.send(
        messageOf(`${name} ${long}`, sessionId === undefined ? {} : { sessionId }),
      );
      expect((await untilSettled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
      ({ sessionId } = accepted);
    }
    const last = endpoint.received.map(sent).at(-1);
    for (const shown of ['FIRST word', SUMMARY, 'THIRD word']) expect(last).toContain(shown);
  });

  it('several long messages in one live task: a message is refused while the task has too much unread text, and later accepted', async () => {
    const service = await start();
    const long = 'word '.repeat(2_000);
    const answer = answersWithin(WINDOW - 1_000);
    endpoint.otherwise(answer);
    endpoint.script({ type: 'turn', turn: { text: ['One'] }, cut: { frames: 2, ending: 'silence' } });
    const asked = endpoint.nextRequest();
    const { taskId, sessionId } = await service.tasks.send(messageOf(`FIRST ${long}`));
    await asked;
    await expect(service.tasks.send(messageOf(`SECOND ${long}`, { taskId }))).rejects.toMatchObject({
      reason: 'TOO_LARGE',
      message: expect.stringMatching(/Send it after the agent has answered/),
    });
    await service.tasks.send(messageOf(`SHORT ${'word '.repeat(150)}`, { taskId }));
    await service.tasks.cancel(taskId, { principal: ADA, channel: 'test' }, 'enough');
    await untilIdle(service.tasks);
    await expect(service.tasks.send(messageOf(`SECOND ${long}`, { sessionId }))).rejects.toMatchObject({
      reason: 'TOO_LARGE',
    });
    for (const text of ['Go on', `SECOND ${long}`]) {
      const { status } = await sendUntilSettled(service.tasks, messageOf(text, { sessionId }));
      expect(status).toEqual({ state: 'completed' });
    }
  });

  it('a message that the provider refuses as too long does not stop the next task of its session', async () => {
    const service = await start();
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
    expect(
      (await sendUntilSettled(service.tasks, messageOf('Hello', { sessionId: first.sessionId }))).status,
    ).toEqual({ state: 'completed' });
    expect(endpoint.received.map(sent).at(-1)).toContain('Begin. word');
    expect(rolesIn(endpoint.received.at(-1)).filter((role) => role === 'user').length).toBeGreaterThan(1);
  });

  it('R22 the next process sends the same prompt for a long conversation', async () => {
    const service = await start();
    const go = reads(5, 6_000);
    const stuck = new Promise<Received>((resolve) => {
      endpoint.otherwise((request) => {
        if (!sent(request).includes('page 5 ') || isSummary(request)) return go(request);
        resolve(request);
        return { type: 'turn', turn: {}, cut: { frames: 1, ending: 'silence' } };
      });
    });
    const accepted = await service.tasks.send(readAll());
    const before = await stuck;
    expect(sent(before)).toContain(SUMMARY);
    await service.stop();
    endpoint.otherwise(go);
    const next = await service.restart({ models: models() });
    await next.tasks.recover();
    expect((await untilSettled(next.tasks, accepted)).status).toEqual({ state: 'completed' });
    expect(endpoint.received.at(-1)?.body).toEqual(before.body);
  });

  it('the server shortens a single result that is too long, without a question to the person', async () => {
    const service = await start();
    endpoint.otherwise(reads(1, 60_000));
    const accepted = await service.tasks.send(messageOf('Read the page.'));
    expect((await untilSettled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
    expect(ofContext(await eventsOf(service, accepted.taskId))).toEqual(['context.clipped']);
    expect(endpoint.received).toHaveLength(2);
    expect(endpoint.received.map(sent).at(-1)).toContain('characters left out');
  });

  it('if the provider refuses the summary, the server shortens the long conversation, and the task continues', async () => {
    const service = await start();
    const go = reads(8, 6_000);
    endpoint.otherwise((request) =>
      isSummary(request) ? { type: 'status', status: 400, body: { error: { message: 'no' } } } : go(request),
    );
    const accepted = await service.tasks.send(readAll());
    expect((await untilSettled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
    const events = await eventsOf(service, accepted.taskId);
    expect(ofContext(events)).toContain('context.clipped');
    expect(events.filter((event) => event.type === 'context.summarised' && event.model !== null)).toEqual([]);
  });

  it('A4 after a cancel of its task, a long conversation is not summarised', async () => {
    const service = await start();
    const go = reads(8, 6_000);
    const asked = new Promise<Received>((resolve) => {
      endpoint.otherwise((request) => {
        if (!isSummary(request)) return go(request);
        resolve(request);
        return { type: 'turn', turn: { text: ['Well'] }, cut: { frames: 2, ending: 'silence' } };
      });
    });
    const { taskId } = await service.tasks.send(readAll());
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

  it('the provider gets a shorter prompt', async () => {
    const service = await start();
    const go = reads(2, 6_000);
    let refused = 0;
    endpoint.otherwise((request) => {
      if (sent(request).length > 10_000 && !isSummary(request)) {
        refused += 1;
        return TOO_LONG;
      }
      return go(request);
    });
    const accepted = await service.tasks.send(readAll());
    expect((await untilSettled(service.tasks, accepted)).status).toEqual({ state: 'completed' });
    const context = ofContext(await eventsOf(service, accepted.taskId));
    expect([refused, context[0], context.length]).toEqual([1, 'context.exceeded', 2]);
  });

  it('if the provider refuses every length, the task fails with an error that contains the next step', async () => {
    const service = await start();
    const go = reads(1, 6_000);
    endpoint.otherwise((request) => (sent(request).includes('page 1 ') ? TOO_LONG : go(request)));
    expect((await sendUntilSettled(service.tasks, readAll())).status).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('cannot be shortened'),
    });
    expect(endpoint.received).toHaveLength(3);
  });
});
