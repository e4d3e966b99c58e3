/** Tests every step of the scripted agent in docs/scripted-agent.md, as a client gets it. */
import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { decisionOn } from '../../support/a2a-message.ts';
import { jsonOf } from '../../support/rpc-answer.ts';
import { homeDirectoryOf, launchServer, newServerHome } from '../../support/server-program.ts';
import { sseFrames } from '../../support/sse-frame.ts';
import { type SharedStage, sharedStage } from '../../support/shared-stage.ts';
import { stage, stageAgain, type Stage } from '../../support/stage.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { z } from 'zod';

const EXAMPLE = resolve('examples/scripted-agent.json');
/** For tests that end the server. */
const scripted = (): Promise<Stage> => stage({ args: ['--agent', 'scripted', EXAMPLE] });
const shared = (): Promise<SharedStage> => sharedStage({ agent: ['scripted', EXAMPLE] });

const message = (text: string, more: object = {}) => ({
  message: { messageId: `m-${randomUUID()}`, role: 'ROLE_USER', parts: [{ text }], ...more },
});

/** Returns the events of a stream over HTTP+JSON. */
async function streamed({ peer }: Pick<Stage, 'peer'>, params: unknown): Promise<Event[]> {
  const { body } = await peer.request('/message:stream', { body: JSON.stringify(params) });
  const events: Event[] = [];
  for await (const { data } of sseFrames(body)) events.push(event.parse(JSON.parse(data)));
  return events;
}

const event = z.looseObject({ artifactUpdate: z.unknown().optional() });
type Event = z.infer<typeof event>;

describe('the scripted agent of a2a-server', () => {
  it('the agent sends text, notes and artifacts of every kind, in order', async () => {
    const at = await shared();
    const events = await streamed(at, message('The report, please'));
    const artifacts = events.flatMap(({ artifactUpdate }) => artifactUpdate ?? []);
    expect(artifacts.slice(1, 4)).toMatchObject(
      ['Here ', 'is ', 'the report.'].map((text) => ({ artifact: { parts: [{ text }] }, append: true })),
    );
    expect(artifacts.slice(4, -1)).toMatchObject([
      { artifact: { artifactId: 'report', name: 'report.md', parts: [{ text: '# Report\n' }] } },
      {
        artifact: { artifactId: 'report', parts: [{ text: 'All is well.\n' }] },
        append: true,
        lastChunk: true,
      },
      { artifact: { artifactId: 'figures', parts: [{ data: { turnover: 12, profit: 3 } }] } },
      {
        artifact: {
          artifactId: 'table',
          parts: [
            {
              raw: Buffer.from('month,profit\n1,3\n').toString('base64'),
              filename: 'table.csv',
              mediaType: 'text/csv',
            },
          ],
        },
      },
      { artifact: { artifactId: 'chart', parts: [{ url: 'https://example.com/chart.png' }] } },
    ]);
    expect(artifacts[4]).not.toHaveProperty('append', true);
    expect(events).toContainEqual(
      expect.objectContaining({
        statusUpdate: expect.objectContaining({
          status: expect.objectContaining({
            state: 'TASK_STATE_WORKING',
            message: expect.objectContaining({
              parts: [expect.objectContaining({ text: 'Collecting the figures.' })],
            }),
          }),
        }),
      }),
    );
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
    // The task's snapshot must equal the events of its stream.
    expect(await at.peer.call('SendMessage', message('another report'))).toMatchObject({
      task: {
        artifacts: [
          { parts: [{ text: 'Here is the report.' }] },
          { artifactId: 'report', parts: [{ text: '# Report\n' }, { text: 'All is well.\n' }] },
          { artifactId: 'figures' },
          { artifactId: 'table' },
          { artifactId: 'chart' },
        ],
      },
    });
  });

  it('the agent asks, requires a sign-in, and continues with each reply, through a SIGKILL at each', async () => {
    let at = await scripted();
    const again = async (): Promise<void> => {
      await at.server.kill();
      at = await stageAgain(at);
    };
    const asked = await at.peer.send('book a table');
    expect(asked).toMatchObject({ state: 'INPUT_REQUIRED', statusText: 'For which day?', pending: [] });
    const { taskId } = asked;
    await again();
    expect(await at.peer.task(taskId)).toMatchObject({
      state: 'INPUT_REQUIRED',
      statusText: 'For which day?',
    });
    const signIn = await at.peer.send('Monday', { taskId });
    expect(signIn).toMatchObject({ taskId, state: 'AUTH_REQUIRED' });
    expect(signIn.statusText).toContain('https://example.com/sign-in');
    await again();
    expect(await at.peer.list({ status: 'TASK_STATE_AUTH_REQUIRED' })).toMatchObject([{ taskId }]);
    expect(await at.peer.send('done', { taskId })).toMatchObject({
      taskId,
      state: 'COMPLETED',
      statusText: 'It is booked.',
    });
  });

  it('a second message continues the same task; the task then waits for a sign-in, and can be cancelled', async () => {
    const at = await shared();
    const { taskId, sessionId } = await at.peer.send('book a table');
    expect(await at.peer.send('Monday', { sessionId })).toMatchObject({ taskId, state: 'AUTH_REQUIRED' });
    expect(await at.peer.cancel(taskId)).toMatchObject({ state: 'CANCELED' });
  });

  it('the agent requests approval of its calls like any other agent', async () => {
    const at = await shared();
    const stream = await at.peer.stream('leave a note');
    const { taskId, pending } = await stream.parked();
    expect(pending).toMatchObject([{ tool: 'write-file' }]);
    const rest = await at.peer.decide(taskId, [decisionOn(pending, 'approve')]);
    await rest.until(({ state }) => state === 'COMPLETED');
    expect(await at.file('note.txt')).toBe('hello\n');
    expect(await at.peer.task(taskId)).toMatchObject({ text: expect.stringContaining('That was all.') });
  });

  it('the agent can reject, fail, and work without end until a cancel', async () => {
    const at = await shared();
    expect(await at.peer.send('something forbidden')).toMatchObject({
      state: 'REJECTED',
      statusText: 'I do not do such things.',
    });
    expect(await at.peer.send('break it')).toMatchObject({ state: 'FAILED', statusText: 'It broke.' });
    const stream = await at.peer.stream('wait');
    const { taskId } = await stream.until(({ text }) => text === 'Waiting to be cancelled.');
    expect(await at.peer.task(taskId)).toMatchObject({
      state: 'WORKING',
      statusText: 'Waiting to be cancelled.',
    });
    expect(await at.peer.cancel(taskId)).toMatchObject({ state: 'CANCELED' });
  });

  it('the agent can wait for the next message without a question, and accepts any message', async () => {
    const at = await shared();
    const { taskId } = await at.peer.send('Hello!');
    expect(await at.peer.task(taskId)).toMatchObject({ state: 'INPUT_REQUIRED', statusText: '' });
    expect(await at.peer.send('so?', { taskId })).toMatchObject({ taskId, state: 'COMPLETED' });
    expect(await at.peer.task(taskId)).toMatchObject({ text: expect.stringContaining('I heard you.') });
    const other = await at.peer.send('so?');
    expect(await at.peer.task(other.taskId)).toMatchObject({ text: 'There is no rule for this.' });
  });

  it('the agent requests several calls in one turn, and waits for those that need a decision', async () => {
    const at = await shared();
    const stream = await at.peer.stream('look around');
    const { taskId, pending } = await stream.parked();
    expect(pending).toMatchObject([{ tool: 'run-shell-command' }]);
    const rest = await at.peer.decide(taskId, [decisionOn(pending, 'deny')]);
    await rest.until(({ state }) => state === 'COMPLETED');
    expect(await at.peer.task(taskId)).toMatchObject({ text: 'I have looked.' });
  });

  it('the agent takes as long as its script says, even beyond the limit of a model’s answer', async () => {
    const file = join(await temporaryDirectory(), 'script.json');
    await writeFile(file, '{"otherwise": [{"delay": 1500}, {"text": "late"}]}');
    const at = await stage({ args: ['--agent', 'scripted', file, '--model-timeout', '1s'] });
    expect(await at.peer.send('go')).toMatchObject({ state: 'COMPLETED' });
  });

  it('the agent can respond with a message instead of a task: at once, on a stream, with returnImmediately, and again', async () => {
    const at = await scripted();
    const params = message('two and two?', { messageId: 'demo-answer-1' });
    const answer = { role: 'ROLE_AGENT', parts: [{ text: 'Two and two is four.' }] };
    const first = await at.peer.call('SendMessage', params);
    expect(first).toMatchObject({ message: answer });
    expect(first).not.toHaveProperty('message.taskId');
    await at.server.kill();
    const next = await stageAgain(at);
    expect(await next.peer.call('SendMessage', params)).toEqual(first);
    expect(await streamed(next, params)).toEqual([first]);
    const other = message('again?', { messageId: 'demo-answer-2' });
    expect(await streamed(next, other)).toMatchObject([{ message: answer }]);
    const immediate = {
      ...message('once more?', { messageId: 'demo-answer-3' }),
      configuration: { returnImmediately: true },
    };
    expect(await next.peer.call('SendMessage', immediate)).toMatchObject({ message: answer });
    const legacy = await next.peer.request('/', {
      headers: { 'A2A-Version': '0.3' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'message/send',
        params: {
          message: {
            kind: 'message',
            messageId: 'demo-answer-4',
            role: 'user',
            parts: [{ kind: 'text', text: '?' }],
          },
        },
      }),
    });
    expect(await jsonOf(legacy)).toMatchObject({
      result: { kind: 'message', role: 'agent', parts: [{ kind: 'text', text: 'Two and two is four.' }] },
    });
  });

  it('a server with an invalid script does not start, and the error gives the position', async () => {
    const home = await newServerHome();
    try {
      const file = join(home.workspace, 'script.json');
      await writeFile(file, '{"rules": [{"when": {}, "do": [{"sing": "la"}]}]}');
      const server = launchServer({ home, args: ['--agent', 'scripted', file] });
      await expect(server.ready).rejects.toThrow(
        /script\.json is not valid: rules\.0\.do\.0: a step has one key/,
      );
      const none = launchServer({ home, args: ['--agent', 'scripted'] });
      await expect(none.ready).rejects.toThrow(/Setting "agent" from flag --agent is not valid/);
      await expect(readFile(join(home.stateDir, 'journal.db'))).rejects.toThrow(/ENOENT/);
    } finally {
      await rm(homeDirectoryOf(home), { recursive: true });
    }
  });
});
