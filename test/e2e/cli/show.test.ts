/** Prints the full pending action at a terminal, with the real command line and server. */
import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { z } from 'zod';
import { cleanUpLater } from '../../support/clean-up.ts';
import { FakeGemini } from '../../support/fake-gemini.ts';
import { HOSTILE_COMMAND, HOSTILE_SHOWN } from '../../support/hostile-text.ts';
import { plan, shell, write } from '../../support/offline-plan.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cliStage, sharedCliStage } from './support/cli-stage.ts';
import { cli, cliAtTerminal } from './support/cli.ts';

describe('the command show', () => {
  it('R93 show prints the whole pending input of a session or a call, and hides nothing', async () => {
    const on = await sharedCliStage();
    const command = `${HOSTILE_COMMAND}\necho ${'x'.repeat(4_000)}`;
    const asked = await on.peer.send(plan(shell(command)));
    expect(asked.pending).toHaveLength(1);
    const callId = asked.pending[0]?.callId ?? '';
    for (const given of [asked.sessionId, callId]) {
      const { code, stdout } = await on.run('show', given);
      expect(code).toBe(0);
      expect(stdout).toContain(HOSTILE_SHOWN);
      expect(stdout).toContain(`│ echo ${'x'.repeat(4_000)}\n(in ${on.server.workspace})\n`);
      expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(stdout.split('\n').filter((line) => line.startsWith('(in '))).toHaveLength(1);
    }
    expect(await on.json('show', callId)).toMatchObject({
      sessionId: asked.sessionId,
      pending: [{ callId, cut: 0, preview: expect.stringContaining(HOSTILE_SHOWN) }],
    });
    const both = plan({ together: [shell('echo one'), shell('echo two')] });
    const { sessionId } = await on.peer.send(both);
    const { stdout } = await on.run('show', sessionId);
    expect(stdout.match(/Decide with: mcp-a2a-bridge approve [0-9a-f]{8}/g)).toHaveLength(2);
    const unknown = await on.run('show', 'call-that-is-not-there');
    expect(unknown.code).not.toBe(0);
  });

  it('R93 in a pager too, each row of a long line has a mark', async () => {
    const on = await sharedCliStage();
    const { sessionId } = await on.peer.send(plan(shell(`echo ${'x'.repeat(200)}(in /safe)`)));
    const { stdout } = await cliAtTerminal(['show', sessionId], {
      ...on.at,
      env: { ...on.at.env, NO_COLOR: '1' },
      keys: '',
      columns: 60,
      pager: 'cat',
    });
    const rows = stdout.split('\r\n');
    const at = rows.findIndex((row) => row.startsWith('│ $ echo xxx'));
    expect(rows.slice(at, at + 5)).toEqual([
      `│ $ echo ${'x'.repeat(51)}`,
      ...[58, 58, 33].map((count) => expect.stringMatching(`^↳ x{${String(count)}}`)),
      `(in ${on.server.workspace})`,
    ]);
  });

  it('where nothing waits, show and tasks say what the person can do next', async () => {
    const on = await cliStage();
    expect((await on.run('tasks')).stdout).toMatch(/^There are no tasks\. .* mcp-a2a-bridge run "/);
    const { sessionId } = await on.peer.send('say hello');
    const { stdout } = await on.run('show', sessionId);
    const result = `The task is completed. See its result with: mcp-a2a-bridge watch ${sessionId.slice(0, 'session-'.length + 8)}`;
    expect(stdout).toContain(`\nNothing waits for a decision. ${result}\n`);
    expect((await on.run('tasks', '--state', 'failed')).stdout).toMatch(/^No task is in this state\./);
  });

  it('show says of a code that waits no more what may have happened, and lists no sessions', async () => {
    const on = await sharedCliStage();
    await on.peer.send('say something');
    const { code, stderr } = await on.run('show', '0a1b2c3d');
    expect(stderr).toBe(
      'mcp-a2a-bridge: No action waits with the code 0a1b2c3d: it was decided, or it has another code now. "mcp-a2a-bridge tasks" lists what waits.\n',
    );
    expect(code).toBe(3);
    const part = await on.run('show', '0a1b');
    expect(part.stderr).toMatch(
      /^mcp-a2a-bridge: No action waits with the code 0a1b: .* There is no session "0a1b"\./,
    );
  });

  it('a command that takes a session names the session of an action’s code', async () => {
    const on = await sharedCliStage();
    const { sessionId } = await on.peer.send(plan(write('coded.txt', 'x')));
    const code = await on.code(sessionId);
    for (const verb of ['watch', 'cancel'])
      expect(await on.run(verb, code)).toMatchObject({
        code: 3,
        stderr: `mcp-a2a-bridge: ${code} is the code of an action, and this command needs a session: ${sessionId}.\n`,
      });
  });

  it('a prefix of several sessions names each session as the list does', async () => {
    const on = await sharedCliStage();
    await on.peer.send(plan({ say: 'one' }, write('a.txt', 'one')));
    await on.peer.send('say something');
    const { stderr } = await on.run('show', 'session-');
    expect(stderr).toMatch(/Several sessions begin with "session-"[^]*Plan: write-file\n/);
    expect(stderr).not.toContain('{"plan"');
  });

  it('show --turns says that a model reports no tokens', async () => {
    const on = await sharedCliStage();
    const { sessionId } = await on.peer.send('say hello');
    const { code, stdout, stderr } = await on.run('show', sessionId, '--turns');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/\n\nThe turns of this task have no tokens\.\n$/);
    expect(await on.json('show', sessionId, '--turns')).toMatchObject({ turns: [] });
    expect(await on.json('show', sessionId)).not.toHaveProperty('turns');
  });

  it('show --turns says that an agent of another kind does not report the cost of each turn', async () => {
    const agent = await FakeGemini.start(() => [{ say: 'Hello.' }]);
    cleanUpLater(() => agent.stop());
    const home = await temporaryDirectory();
    const run = (...args: string[]) =>
      cli([...args, '--agent-url', agent.url, '--state-dir', join(home, 'state')], { home, cwd: home });
    const begun = await run('run', 'say hello', '--json');
    const { sessionId } = z.object({ sessionId: z.string() }).parse(JSON.parse(begun.stdout));
    const { code, stderr } = await run('show', sessionId, '--turns');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^Agent ".+" does not report the cost of each turn\.\n$/),
    });
    const shown: unknown = JSON.parse((await run('show', sessionId, '--turns', '--json')).stdout);
    expect(shown).toMatchObject({ turns: null });
  });
});
