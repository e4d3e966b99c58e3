/** Tests each command for a session whose task the agent never received or has forgotten. */
import { expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import { cleanUpLater } from '../../support/clean-up.ts';
import { FakeAgent } from '../../support/fake-agent.ts';
import { hostileAgent } from '../../support/fake-agent-hostile.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, type CliOptions, cliRunning } from './support/cli.ts';

// This limit is for a busy machine. No test waits for it.
jest.setTimeout(120_000);

/** The commands for one session, in this order, each with its expected JSON. */
type Said = readonly (readonly ['tasks' | 'show' | 'watch' | 'cancel', Record<string, unknown>])[];

const listed = z.object({ sessions: z.tuple([z.object({ sessionId: z.string() })]) });

async function expectSaid(said: Said, agentUrl: string, at: CliOptions): Promise<void> {
  const { stdout } = await cli(['tasks', '--json', '--agent-url', agentUrl], at);
  const [{ sessionId }] = listed.parse(JSON.parse(stdout)).sessions;
  for (const [command, outcome] of said) {
    const named = command === 'tasks' ? [] : [sessionId];
    const found = await cli([command, ...named, '--agent-url', agentUrl], at);
    expect({ command, ...found }).toMatchObject({ command, ...outcome });
  }
}

const NOT_DELIVERED = /It is not delivered yet: .*\b(next try is at|try is under way)/;
const FORGOTTEN = /does not know this task/;

it('R100 for a task that is not delivered, each command says "not delivered", with the time of the next attempt', async () => {
  const gone = await FakeAgent.start();
  const { url: endpoint } = gone;
  await gone.stop();
  const agent = await hostileAgent(() => undefined, { endpoint });
  const at = { home: await temporaryDirectory() };
  cleanUpLater(() => agent.stop());
  const started = await cli(['run', 'try it', '--agent-url', agent.url], at);
  expect(started).toMatchObject({ code: 69, stderr: expect.stringMatching(NOT_DELIVERED) });
  const said: Said = [
    ['tasks', { code: 0, stdout: expect.stringMatching(/ not-delivered .* try it\n/) }],
    ['show', { code: 0, stdout: expect.stringMatching(NOT_DELIVERED) }],
    ['watch', { code: 69, stderr: expect.stringMatching(NOT_DELIVERED) }],
    [
      'cancel',
      { code: 0, stdout: expect.stringContaining('cancels the task as soon as the agent confirms it') },
    ],
    ['tasks', { code: 0, stdout: expect.stringMatching(/ not-delivered /) }],
  ];
  await expectSaid(said, agent.url, at);
});

it('R100 for a task that the agent has forgotten, each command says that the agent does not know the task', async () => {
  const agent = await FakeAgent.start({ onMessage: (task) => task.work().ask(pendingWrite('one')) });
  const at = { home: await temporaryDirectory() };
  cleanUpLater(() => agent.stop());
  await cli(['run', '--detach', 'write it', '--agent-url', agent.url], at);
  agent.tasks.clear();
  const said: Said = [
    ['tasks', { code: 0, stdout: expect.stringMatching(/ unknown-to-agent +- .* write it\n/) }],
    ['show', { code: 3, stderr: expect.stringMatching(FORGOTTEN) }],
    ['watch', { code: 3, stderr: expect.stringMatching(FORGOTTEN) }],
    ['cancel', { code: 4, stderr: expect.stringMatching(/nothing to cancel: .*does not know this task/) }],
  ];
  await expectSaid(said, agent.url, at);
});

it('R100 run says so if the agent forgets the task while run waits; after the end of the agent, tasks fails', async () => {
  const agent = await FakeAgent.start({ onMessage: (task) => task.work() });
  const { url } = agent;
  const at = { home: await temporaryDirectory() };
  try {
    const running = cliRunning(['run', 'work', '--agent-url', url], at);
    await running.line('working');
    agent.tasks.clear();
    agent.cutStreams();
    expect(await running.ended).toMatchObject({ code: 3, stderr: expect.stringMatching(FORGOTTEN) });
  } finally {
    await agent.stop();
  }
  expect(await cli(['tasks', '--agent-url', url], at)).toMatchObject({
    code: 69,
    stdout: expect.stringMatching(/ unknown .* work\n/),
  });
});
