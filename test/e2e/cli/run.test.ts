/** Tests `run`, which starts a task from a terminal and asks there for each decision. */
import { describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { decisionOn } from '../../support/a2a-message.ts';
import { untilFileContains } from '../../support/file-watch.ts';
import { makeGate } from '../../support/gate.ts';
import { askPerson, plan, shell, wait, write } from '../../support/offline-plan.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cliAtTerminal, cliRunning, PROGRAM } from './support/cli.ts';
import { cliStage, codeShownIn, sharedCliStage } from './support/cli-stage.ts';

const PROMPT = 'leaves it waiting:';

describe('the command run', () => {
  it('R01 run asks at the terminal for each decision, cuts no word of the prompt, and ends with the task', async () => {
    const on = await sharedCliStage();
    const text = plan(write('a.md', 'one\n'), write('b.md', 'two\n'), { say: 'Both are there.' });
    const args = ['run', text, '--workspace', on.server.workspace];
    const at = { ...on.at, keys: 'y\n', prompt: PROMPT, columns: 60 };
    const { code, stdout } = await cliAtTerminal(args, at);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('Both are there.') });
    expect(stdout).toMatch(/ or n and a reason;\r?\n↳ Enter leaves it waiting:/);
    expect(stdout.match(/approved by the local user/g)).toHaveLength(2);
    expect(await on.file('a.md')).toBe('one\n');
    expect(await on.file('b.md')).toBe('two\n');
  });

  it('run shows each of several pending actions once, directly above its prompt, and how many follow', async () => {
    const on = await sharedCliStage();
    const text = plan({ together: [write('a.md', 'one\n'), shell('echo two')] });
    const { stdout: painted } = await cliAtTerminal(['run', text], { ...on.at, keys: 'n\n', prompt: PROMPT });
    const stdout = stripVTControlCharacters(painted);
    expect(stdout.match(/\+one/g)).toHaveLength(1);
    expect(stdout.match(/\$ echo two/g)).toHaveLength(1);
    expect(stdout).toMatch(/\+one[^]*Then 1 more\.\s+Approve[^]*\$ echo two[^]*Approve/);
  });

  it.each([1, 2])(
    'the inbox does not list a result that run has shown, after %d decisions',
    async (calls) => {
      const on = await cliStage();
      const steps = [shell('exit 1'), write('a.md', 'one\n')].slice(0, calls);
      const { code } = await cliAtTerminal(['run', plan({ together: steps })], {
        ...on.at,
        keys: 'y\n',
        prompt: PROMPT,
      });
      expect(code).toBe(0);
      expect((await on.run('inbox')).stdout).toBe('The inbox is empty.\n');
    },
  );

  it('D2 run shows each action above its code if the person leaves all of them waiting', async () => {
    const on = await sharedCliStage();
    const text = plan({ together: [write('a.md', 'one\n'), shell('echo two')] });
    const { code, stdout } = await cliAtTerminal(['run', text], { ...on.at, keys: '\n', prompt: PROMPT });
    expect(code).toBe(6);
    expect(stripVTControlCharacters(stdout)).toMatch(
      /\+one[^]*Approve[^]*Decide with: mcp-a2a-bridge approve[^]*\$ echo two[^]*Decide with: mcp-a2a-bridge approve/,
    );
  });

  it('R02 run sends the reason of a denial to the agent', async () => {
    const on = await sharedCliStage();
    const keys = 'n not today\n';
    const { code, stdout } = await cliAtTerminal(['run', plan(shell('touch never'), { say: 'Left.' })], {
      ...on.at,
      keys,
      prompt: PROMPT,
    });
    expect(stdout).toContain('Left.');
    expect(code).toBe(0);
    const [task] = await on.peer.list();
    expect((await on.peer.task(task?.taskId ?? '')).overview.calls).toMatchObject([{ state: 'denied' }]);
    expect(await on.file('never')).toBeUndefined();
  });

  it('D1 run decides nothing on Enter: the task waits, and the exit code says so', async () => {
    const on = await sharedCliStage();
    const { code, stdout } = await cliAtTerminal(['run', 'Create test.md with hello'], {
      ...on.at,
      keys: '\n',
      prompt: PROMPT,
    });
    expect(code).toBe(6);
    expect(stdout).toContain(`mcp-a2a-bridge approve ${codeShownIn(stdout)}`);
    expect(await on.file('test.md')).toBeUndefined();
  });

  it('D2 a key that a person types while a command runs does not decide the next action', async () => {
    const on = await sharedCliStage();
    const gate = await makeGate(on.server.workspace);
    const text = plan(shell(`echo begun > begun.txt; ${gate.wait}`), write('b.md', 'two\n'));
    let prompts = 0;
    const { code } = await cliAtTerminal(['run', text, '--workspace', on.server.workspace], {
      ...on.at,
      keys: '',
      prompt: PROMPT,
      onPrompt: async (type) => {
        prompts += 1;
        if (prompts > 1) return type('\n');
        await type('y\n');
        await untilFileContains(join(on.server.workspace, 'begun.txt'), 'begun');
        await type('y\n');
        await gate.pass();
      },
    });
    expect({ code, prompts }).toEqual({ code: 6, prompts: 2 });
    expect(await on.file('b.md')).toBeUndefined();
  });

  it('D1 an end of the input that a person types while a command runs decides nothing, and the task waits', async () => {
    const on = await sharedCliStage();
    const gate = await makeGate(on.server.workspace);
    const text = plan(shell(`echo begun > begun.txt; ${gate.wait}`), write('b.md', 'two\n'));
    let prompts = 0;
    const { code } = await cliAtTerminal(['run', text, '--workspace', on.server.workspace], {
      ...on.at,
      keys: '',
      prompt: PROMPT,
      onPrompt: async (type) => {
        prompts += 1;
        if (prompts > 1) return;
        await type('y\n');
        await untilFileContains(join(on.server.workspace, 'begun.txt'), 'begun');
        // A terminal does not show Ctrl-D, so nothing waits for it.
        void type('\u0004');
        await gate.pass();
      },
    });
    expect(code).toBe(6);
    expect(await on.file('b.md')).toBeUndefined();
  });

  it('R16 run accepts an answer at the terminal', async () => {
    const on = await sharedCliStage();
    const text = plan(askPerson('Which colour?', ['blue', 'green']), { say: 'Thanks.' });
    const { code } = await cliAtTerminal(['run', text], { ...on.at, keys: '2\n', prompt: PROMPT });
    expect(code).toBe(0);
    const [task] = await on.peer.list();
    expect((await on.peer.task(task?.taskId ?? '')).overview.calls).toMatchObject([{ state: 'answered' }]);
  });

  it('R97 run ends its prompt when another channel decides, shows the unsent text, and the task continues', async () => {
    const on = await sharedCliStage();
    const running = cliAtTerminal(['run', 'Create test.md with hello'], {
      ...on.at,
      keys: '',
      prompt: PROMPT,
      onPrompt: async (type) => {
        // The terminal shows each key by itself.
        for (const key of 'n not this f') await type(key);
        const [task] = await on.peer.list();
        const { taskId, pending } = await on.peer.task(task?.taskId ?? '');
        await (await on.peer.decide(taskId, [decisionOn(pending, 'approve')])).rest();
      },
    });
    const { code, stdout } = await running;
    expect(stdout).toContain('It was decided elsewhere: approved by the local user over A2A.');
    expect(stdout).toContain('It was not sent:\r\nn not this f\r\n');
    expect(code).toBe(0);
    expect(await on.file('test.md')).toBe('hello');
  });

  it('without a terminal run prints the codes and returns; approve lets the task continue', async () => {
    const on = await sharedCliStage();
    const { code, stdout } = await on.run('run', 'Create', 'test.md', 'with', 'hello');
    expect(code).toBe(6);
    expect(stdout.match(/^Decide with: /gm)).toHaveLength(1);
    expect((await on.run('approve', codeShownIn(stdout))).code).toBe(0);
    const [, session = ''] = /^Session (\S+)/.exec(stdout) ?? [];
    expect((await on.run('watch', session)).code).toBe(0);
    expect(await on.file('test.md')).toBe('hello');
  });

  it('run --detach prints the session and returns while the task runs; --json prints one object', async () => {
    const on = await sharedCliStage();
    const { code, stdout } = await on.run('run', '--detach', 'Create test.md with hello');
    const [session = ''] = stdout.split('\n');
    expect({ code, session }).toEqual({ code: 0, session: expect.stringMatching(/^session-/) });
    expect((await on.run('watch', session, '--until-settled')).code).toBe(6);
    const done = z.object({ sessionId: z.string(), state: z.string(), output: z.string() });
    expect(done.parse(await on.json('run', 'say hi'))).toMatchObject({ state: 'completed' });
    const waits = await on.run('run', '--json', 'Create test.md with hello');
    expect(waits.code).toBe(6);
    expect(JSON.parse(waits.stdout)).toMatchObject({ state: 'input-required', pending: [{}] });
    const listed = await on.json('run', '--json', '--detach', 'say hi');
    expect(listed).toMatchObject({ sessionId: expect.stringMatching(/^session-/) });
  });

  it.each([[['run', 'Create test.md with hello']], [['command', 'init']]])(
    'B1 a later MCP call with the same words as %j starts a new task, and does not join the task of the command line',
    async ([word = '', ...words]) => {
      const on = await cliStage();
      const here = z.object({ sessionId: z.string() }).parse(await on.json(word, ...words));
      const { stateDir, workspace } = on.server;
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: [PROGRAM, '--state-dir', stateDir],
          cwd: workspace,
          env: { HOME: workspace, PATH: '' },
          stderr: 'ignore',
        }),
      );
      const asked =
        word === 'run'
          ? { name: 'delegate_task_to_assistant', arguments: { task: words.join(' '), workspace } }
          : { name: 'execute_agent_command', arguments: { command: words[0], workspace } };
      const { structuredContent } = await client.callTool(asked);
      const there = z.object({ sessionId: z.string() }).parse(structuredContent);
      expect(there.sessionId).not.toBe(here.sessionId);
      expect(await on.peer.list()).toHaveLength(2);
      await client.close();
    },
  );

  it('run exits with 5 if the task is cancelled', async () => {
    const on = await sharedCliStage();
    const running = cliRunning(['run', plan(wait(600))], on.at);
    const [, session = ''] = /^Session (\S+)/.exec(await running.line('Session ')) ?? [];
    expect((await on.run('cancel', session)).code).toBe(0);
    expect((await running.ended).code).toBe(5);
  });

  it('--file sends the file with the task; without a terminal, X2 a file outside the workspace is refused', async () => {
    const on = await cliStage();
    const { workspace } = on.server;
    await writeFile(join(workspace, 'notes.md'), 'The colour is teal.\n');
    const outside = join(await temporaryDirectory(), 'other.md');
    await writeFile(outside, 'Another colour.\n');
    const run = ['run', '--workspace', workspace, 'say hi', '--file'];
    const away = await on.run(...run, outside);
    expect(away).toMatchObject({ code: 77, stderr: expect.stringContaining('is outside of') });
    expect(await on.peer.list()).toEqual([]);
    expect((await on.run(...run, 'notes.md')).code).toBe(0);
    const [task] = await on.peer.list();
    const sent = await on.peer.call('GetTask', { id: task?.taskId });
    expect(JSON.stringify(sent)).toContain('[file notes.md]\\nThe colour is teal.');
    const here = await cliAtTerminal([...run, outside], { ...on.at, keys: '' });
    expect(here.code).toBe(0);
    expect(await on.peer.list()).toHaveLength(2);
  });

  it('run refuses a mode without approvals if there is no terminal', async () => {
    const on = await cliStage();
    const away = await on.run('run', '--mode', 'auto', 'Create test.md with hello');
    expect(away).toMatchObject({ code: 2, stderr: expect.stringContaining('needs a terminal') });
    expect(await on.peer.list()).toEqual([]);
    expect((await on.run('run', '--mode', 'fast', 'x')).code).toBe(2);
    const args = ['run', '--mode', 'auto', 'Create test.md with hello'];
    const here = await cliAtTerminal(args, { ...on.at, keys: '' });
    expect(here.code).toBe(0);
    expect(await on.file('test.md')).toBe('hello');
  });
});
