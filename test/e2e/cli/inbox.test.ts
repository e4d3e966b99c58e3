/** Tests the command that lists finished tasks that no client has collected, and tasks that wait for a person. */
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { z } from 'zod';
import { FakeAgent } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, cliAtTerminal, type CliOptions, cliRunning, type Outcome } from './support/cli.ts';

// This limit is for a busy machine. No test waits for it.
jest.setTimeout(120_000);

const entriesIn = ({ stdout }: Outcome): unknown =>
  z.object({ entries: z.array(z.unknown()) }).parse(JSON.parse(stdout)).entries;

describe('the command inbox', () => {
  let agent: FakeAgent;
  let at: CliOptions;
  const run = (...args: string[]): Promise<Outcome> => cli([...args, '--agent-url', agent.url], at);

  beforeEach(async () => {
    at = { home: await temporaryDirectory() };
    agent = await FakeAgent.start({
      onMessage: (task, text) => {
        if (text.includes('ask')) task.work().ask(pendingWrite('one'));
        else if (text.includes('work')) task.work();
        else task.work().say('done').complete();
      },
    });
  });

  afterEach(() => agent.stop());

  it('R68 lists uncollected results and waiting tasks, and marks a result as collected only with --collect', async () => {
    await run('run', '--detach', 'just do it');
    await run('run', '--detach', 'ask me');
    await run('run', '--detach', 'work on');
    const finished = { type: 'finished', state: 'completed', title: 'just do it' };
    const waiting = { type: 'waiting', state: 'input-required', title: 'ask me', pending: 1 };
    for (let reading = 0; reading < 2; reading += 1)
      expect(entriesIn(await run('inbox', '--json'))).toMatchObject([waiting, finished]);
    const { stdout, code } = await run('inbox', '--collect');
    expect(stdout).toMatch(/^input-required {2}session-\S+ {2}\S+: ask me\n.* show session-\S+\n/);
    expect(stdout).toMatch(/\ncompleted {2}session-\S+ {2}\S+: just do it\n.* watch session-\S+\n$/);
    expect(code).toBe(0);
    expect(entriesIn(await run('inbox', '--json'))).toMatchObject([waiting]);
  });

  it('cuts a long title at a terminal, so that each entry has one row and one command', async () => {
    await run('run', '--detach', `ask ${'me '.repeat(30)}`);
    const options = { ...at, keys: '', prompt: 'no prompt', env: { NO_COLOR: '1' } };
    const args = ['inbox', '--agent-url', agent.url];
    const [wide = '', show] = (await cliAtTerminal(args, { ...options, columns: 80 })).stdout.split('\r\n');
    expect(wide).toMatch(/^input-required {2}session-\S+ {2}\S+: ask (?:me )+m?e?…$/);
    expect(wide).toHaveLength(80);
    expect(show).toMatch(/^ {2}mcp-a2a-bridge show session-\S+$/);
    const atNarrow = await cliAtTerminal(args, { ...options, columns: 40 });
    const [narrow = '', command = ''] = atNarrow.stdout.split('\r\n');
    expect(narrow).toMatch(/^input-required {2}[^-\s]+ {2}\S+: ask.*…$/);
    expect(narrow).toHaveLength(40);
    expect(command).toMatch(/^ {2}mcp-a2a-bridge show [^-\s]+$/);
  });

  it('says that the inbox is empty; --bell does not ring for nothing, and is refused with --json', async () => {
    expect(await run('inbox', '--bell')).toMatchObject({ code: 0, stdout: 'The inbox is empty.\n' });
    expect(await run('inbox', '--bell', '--json')).toMatchObject({ code: 2 });
  });

  it('--watch prints a task when it ends, also one that another process delegates later; --bell rings', async () => {
    await run('run', '--detach', 'work on');
    const watching = cliRunning(['inbox', '--watch', '--bell', '--agent-url', agent.url], at);
    await watching.line('The inbox is empty.');
    agent.task.say('done').complete();
    await watching.line('completed');
    await run('run', '--detach', 'ask me');
    await watching.line('ask me');
    watching.child.kill('SIGINT');
    await once(watching.child, 'exit');
    expect((await watching.ended).stdout.split('\u{7}')).toHaveLength(3);
  });
});
