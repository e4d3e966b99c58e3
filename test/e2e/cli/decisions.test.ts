/** Tests decisions at a terminal, with the real command line, server and files. */
import { describe, expect, it } from '@jest/globals';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { cleanUpLater } from '../../support/clean-up.ts';
import { plainAgent } from '../../support/fake-agent-plain.ts';
import { A2aPeer } from '../../support/a2a-peer.ts';
import { writtenMessage } from '../../support/a2a-message.ts';
import { append, plan, wait, write } from '../../support/offline-plan.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, cliAtTerminal } from './support/cli.ts';
import {
  type SharedCliStage,
  cliStage,
  cliStageAgain,
  codeShownIn,
  sharedCliStage,
} from './support/cli-stage.ts';

const failure = z.object({ error: z.object({ reason: z.string(), message: z.string() }) });

/** Starts a task whose call waits to create a file. The test decides whether the task then ends. */
async function waiting(
  on: SharedCliStage,
  text = 'Create test.md with hello',
): Promise<{ id: string; call: string }> {
  const { sessionId, pending } = await on.peer.send(text);
  return { id: sessionId, call: pending[0]?.callId ?? '' };
}

/** Returns the environment with an editor that replaces the text of its file. */
async function editor(on: SharedCliStage, script: string): Promise<Record<string, string>> {
  const path = join(on.server.stateDir, 'editor.sh');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return { ...on.at.env, EDITOR: path };
}

/** The program `script` takes different arguments on other systems. */
const onLinux = process.platform === 'linux' ? it : it.skip;

describe('the commands approve and deny', () => {
  it('R01 approve shows the pending action; with the action’s code it approves over the channel "cli", and the tool runs once', async () => {
    const on = await sharedCliStage();
    const { id, call } = await waiting(on);
    const screen = (await on.run('approve', id)).stdout;
    expect(screen).toContain('Write test.md');
    expect(screen).toContain('+hello');
    const { code, stdout } = await on.run('approve', codeShownIn(screen), '--reason', 'go on');
    expect(stdout).toContain(`Approved: ${call}  Write test.md`);
    expect(code).toBe(0);
    const watched = await on.run('watch', id);
    expect(watched.stdout).toContain('write-file: approved by the local user on the command line');
    expect(await on.file('test.md')).toBe('hello');
  });

  it('R20 a decision reaches a server that was killed and restarted', async () => {
    const before = await cliStage();
    const { id } = await waiting(before);
    await before.server.kill();
    const on = await cliStageAgain(before);
    expect((await on.run('approve', await on.code(id))).code).toBe(0);
    expect((await on.run('watch', id)).code).toBe(0);
    expect(await on.file('test.md')).toBe('hello');
  });

  it('R02 deny stops the tool from running, and the agent gets the reason', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on);
    expect((await on.run('deny', await on.code(id), '--reason', 'not today')).code).toBe(0);
    expect((await on.run('watch', id)).stdout).toContain('not today');
    expect(await on.file('test.md')).toBeUndefined();
  });

  it('R03 if several actions are pending, the command needs a call id or --all, and otherwise decides nothing', async () => {
    const on = await sharedCliStage();
    const { sessionId, pending } = await on.peer.send(
      plan({ together: [append('a.md', 'a'), append('b.md', 'b')] }),
    );
    const [first, second] = pending.map(({ callId }) => callId);
    const unnamed = await on.run('approve', sessionId);
    expect(unnamed).toMatchObject({ code: 3, stderr: expect.stringContaining('Several actions wait') });
    expect(unnamed.stderr).toContain(second);
    const named = await on.run('approve', sessionId, first ?? '');
    expect(await on.json('approve', codeShownIn(named.stdout))).toMatchObject({
      decided: [{ callId: first, decision: 'approve' }],
      pending: [{ callId: second }],
    });
    expect(await on.file('a.md')).toBeUndefined();
    const rest = await on.run('deny', sessionId, '--all');
    expect(await on.json('deny', codeShownIn(rest.stdout))).toMatchObject({ pending: [] });
    await on.taskEnd(sessionId);
    expect([await on.file('a.md'), await on.file('b.md')]).toEqual(['a', undefined]);
  });

  it('R12 an approval with a scope lets the next call of the tool run without a question', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on, plan(write('a.md', 'a'), write('b.md', 'b')));
    expect((await on.run('approve', await on.code(id), '--scope', 'tool')).code).toBe(0);
    expect((await on.run('watch', id)).code).toBe(0);
    expect(await on.file('b.md')).toBe('b');
    expect(await on.run('approve', id, '--scope', 'forever')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('once, tool, server, always'),
    });
  });

  it('R12 a grant can have a limit of uses, is listed, and can be revoked', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on, plan(write('a.md', 'a'), write('b.md', 'b'), write('c.md', 'c')));
    expect(await on.run('approve', await on.code(id), '--minutes', '10')).toMatchObject({ code: 2 });
    await on.run('approve', await on.code(id), '--scope', 'tool', '--minutes', '10', '--uses', '1');
    // The scope of the approval covers one more call, which writes b.md. So the call for c.md waits.
    await on.run('watch', id, '--until-settled');
    expect([await on.file('b.md'), await on.file('c.md')]).toEqual(['b', undefined]);
    expect((await on.run('revoke', id)).stdout).toContain('Nothing is trusted');
    await on.run('approve', await on.code(id));
    await on.taskEnd(id);
    const second = await waiting(on, plan(write('d.md', 'd'), wait(600), write('e.md', 'e')));
    await on.run('approve', await on.code(second.id), '--scope', 'always', '--uses', '2');
    const shown = await on.run('revoke', second.id);
    const [, grantId = ''] =
      /Trusted (g\d+): everything, 2 uses left, by the local user on the command line/.exec(shown.stdout) ??
      [];
    expect(await on.run('revoke', second.id, 'g99')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`Grants in force: ${grantId}.`),
    });
    expect(await on.json('revoke', second.id, grantId)).toEqual({
      sessionId: second.id,
      revoked: [grantId],
      grants: [],
    });
  });

  it('R07 the first decision is final: a second decision fails, and the error names the first', async () => {
    const on = await sharedCliStage();
    const { id, call } = await waiting(on);
    const shown = await on.code(id);
    await on.run('deny', shown);
    expect(await on.run('approve', shown)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(`No action waits with the code ${shown}: it was decided`),
    });
    const { code, stderr } = await on.run('approve', id, call);
    expect(stderr).toMatch(/was decided before: denied by the local user on the command line/);
    expect(code).toBe(4);
    expect(await on.file('test.md')).toBeUndefined();
  });

  it('D2 R11 the command does not decide an action that has changed since it was shown', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on);
    const wrong = await on.run('approve', '00000000');
    expect(wrong).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('it has another code now'),
    });
    const seen = await on.code(id);
    expect((await on.peer.list())[0]?.pending).toHaveLength(1);
    // The file exists now, so the shown diff is outdated.
    await writeFile(join(on.server.workspace, 'test.md'), 'somebody was faster');
    await on.run('approve', seen);
    const again = await on.run('watch', id, '--until-settled');
    expect(again.stdout).toContain('somebody was faster');
    expect(again.code).toBe(6);
    // The code of the earlier question is no longer valid, also as a prefix.
    expect(await on.run('approve', seen)).toMatchObject({ code: 4 });
    expect(await on.file('test.md')).toBe('somebody was faster');
    expect((await on.run('approve', codeShownIn(again.stdout))).code).toBe(0);
    await on.taskEnd(id);
    expect(await on.file('test.md')).toBe('hello');
  });

  it('D1 without a terminal and without a code, the command only shows the action, which stays pending', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on);
    const { code, stdout, stderr } = await on.run('approve', id);
    expect(stdout).toContain('+hello');
    expect(stderr).toMatch(/decide with its whole code: mcp-a2a-bridge approve [0-9a-f]{8}$/m);
    expect(code).toBe(2);
    expect((await on.peer.list())[0]?.pending).toHaveLength(1);
  });

  it('D2 without a terminal, the beginning of a code decides nothing: the command shows the action and the whole code', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on);
    const whole = await on.code(id);
    const beginning = whole.slice(0, 6);
    for (const [verb, more] of [
      ['approve', []],
      ['deny', []],
      ['edit', ['--yes', '--file', '/dev/null']],
    ] as const) {
      const { code, stdout, stderr } = await on.run(verb, beginning, ...more);
      expect(stdout).toContain('+hello');
      expect(stderr).toContain(`mcp-a2a-bridge ${verb} ${whole}`);
      expect(code).toBe(2);
    }
    expect((await on.peer.list())[0]?.pending).toHaveLength(1);
  });

  onLinux('D2 the beginning of a code shows the action and asks at the terminal', async () => {
    const on = await cliStage();
    const { id } = await waiting(on);
    const beginning = (await on.code(id)).slice(0, 4);
    const approved = await cliAtTerminal(['approve', beginning], { ...on.at, keys: 'y\r' });
    expect(approved.stdout).toContain('+hello');
    expect(approved.code).toBe(0);
  });

  onLinux(
    'at a terminal, approve also prints a link that opens a long action in a browser; a pipe gets none',
    async () => {
      const on = await sharedCliStage();
      const { id, call } = await waiting(on, plan(append('long.md', 'a line\n'.repeat(40))));
      const { stdout } = await cliAtTerminal(['approve', id], { ...on.at, keys: 'n\r' });
      const [, url = ''] = /Or decide in a browser\. .+:\r?\n(\S+)/.exec(stdout) ?? [];
      const fragment = new URLSearchParams(new URL(url).hash.slice(1));
      expect(fragment.get('call')).toBe(call);
      const signIn = (code: string | null): Promise<Response> =>
        fetch(new URL('/page/session', url), {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin: new URL(url).origin },
          body: JSON.stringify({ code }),
        });
      expect((await signIn(fragment.get('code'))).status).toBe(200);
      expect((await signIn(fragment.get('code'))).status).not.toBe(200);
      for (const more of [[], ['--json']] as const) {
        const piped = await on.run('approve', id, ...more);
        expect(piped.stdout + piped.stderr).not.toContain('code=');
      }
      const json = await cliAtTerminal(['approve', id, '--json'], { ...on.at, keys: 'n\r' });
      expect(json.stdout).not.toContain('code=');
    },
  );

  onLinux('at a terminal the diff has colours, and y decides; anything else does not', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on);
    const no = await cliAtTerminal(['approve', id], { ...on.at, keys: 'n\r' });
    expect(no.stdout).toContain('\u{1b}[32m│ +hello');
    expect(no.stdout).toContain('Nothing was decided.');
    expect(no.stdout).not.toContain('in a browser');
    expect(no.code).toBe(1);
    const plain = await cliAtTerminal(['approve', id], {
      ...on.at,
      env: { ...on.at.env, NO_COLOR: '1' },
      keys: 'y\r',
    });
    expect(plain.stdout).toMatch(/^│ \+hello/m);
    expect(plain.code).toBe(0);
    await on.taskEnd(id);
    expect(await on.file('test.md')).toBe('hello');
  });

  it('X3 text from an agent cannot imitate the program’s own lines: control characters are escaped', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on, plan(append('x.md', 'safe\u{1b}[2K\u{1b}[1A\rharmless\u{202e}')));
    const { stdout } = await cli(['approve', id], { ...on.at, env: { ...on.at.env, FORCE_COLOR: '1' } });
    expect(stdout).toContain('safe\\u{1b}[2K\\u{1b}[1A\\u{d}harmless\\u{202e}');
  });
});

describe('the command edit', () => {
  it('R10 edit opens the editor with the text and shows the diff, and the edited call runs', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on);
    const env = await editor(on, `sed -i s/hello/bye/ "$1"`);
    const { code, stdout } = await cli(['edit', await on.code(id), '--yes'], { ...on.at, env });
    expect(stdout).toMatch(/-hello[^]*\+bye/);
    expect(code).toBe(0);
    const { stdout: watched } = await on.run('watch', id);
    expect(watched).toContain('write-file: edited and approved by the local user on the command line');
    expect(await on.file('test.md')).toBe('bye');
  });

  it('R10 edit opens a command line as plain text, and any other input as JSON', async () => {
    const on = await sharedCliStage();
    const command = await waiting(on, 'run `echo one > told`');
    const echo = await editor(on, `sed -i s/one/two/ "$1"`);
    expect((await cli(['edit', await on.code(command.id), '--yes'], { ...on.at, env: echo })).code).toBe(0);
    await on.taskEnd(command.id);
    expect(await on.file('told')).toBe('two\n');
    await writeFile(join(on.server.workspace, 'old.md'), 'old text');
    const change = await waiting(on, 'replace "old" with "new" in old.md');
    const broken = await cli(['edit', await on.code(change.id), '--yes', '--file', '-'], {
      ...on.at,
      stdin: '{"path": ',
    });
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining('Nothing was decided') });
    const json = await editor(on, `sed -i 's/"new"/"brandnew"/' "$1"`);
    expect((await cli(['edit', await on.code(change.id), '--yes'], { ...on.at, env: json })).code).toBe(0);
    await on.taskEnd(change.id);
    expect(await on.file('old.md')).toBe('brandnew text');
  });

  it('D2 if the file has changed during the edit, the error names the file with the edited text', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on);
    const changed = join(on.server.workspace, 'test.md');
    const env = await editor(on, `sed -i s/hello/bye/ "$1"; echo faster > '${changed}'`);
    const refused = await cli(['edit', await on.code(id), '--yes'], { ...on.at, env });
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('is not what was shown') });
    const [, kept = ''] = /--file (\S+)/.exec(refused.stderr) ?? [];
    expect((await on.run('edit', await on.code(id), '--yes', '--file', kept)).code).toBe(0);
    await on.taskEnd(id);
    expect(await on.file('test.md')).toBe('bye');
    await rm(dirname(kept), { recursive: true });
  });

  it('edit decides nothing if the text is unchanged, the editor fails, or there is no terminal', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on);
    const same = await cli(['edit', await on.code(id), '--yes'], { ...on.at, env: await editor(on, 'true') });
    expect(same).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was changed') });
    const quit = await cli(['edit', await on.code(id), '--yes'], {
      ...on.at,
      env: await editor(on, 'exit 1'),
    });
    expect(quit).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing was decided') });
    const unasked = await cli(['edit', id], { ...on.at, env: await editor(on, `echo x > "$1"`) });
    expect(unasked).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/nothing was decided.* edit [0-9a-f]{8} --file <path> --yes\n$/),
    });
    const env = { ...on.at.env, VISUAL: '', EDITOR: '' };
    const withoutEditor = await cli(['edit', await on.code(id), '--yes'], { ...on.at, env });
    expect(withoutEditor).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no terminal for the editor'),
    });
    expect((await on.peer.list())[0]?.pending).toHaveLength(1);
  });

  it('edit reads the text from a file, or from stdin', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on);
    const { code } = await cli(['edit', await on.code(id), '--yes', '--file', '-'], {
      ...on.at,
      stdin: 'piped',
    });
    expect(code).toBe(0);
    await on.taskEnd(id);
    expect(await on.file('test.md')).toBe('piped');
  });
});

describe('the session argument of the commands', () => {
  it('R15 an unknown session is refused, and the error lists the existing sessions', async () => {
    const on = await cliStage();
    const { id } = await waiting(on);
    expect(await on.run('approve', 'nowhere')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(id),
    });
    expect(failure.parse(await on.json('watch', 'nowhere')).error.reason).toBe('UNKNOWN_SESSION');
  });

  it('a unique prefix of a session id is enough', async () => {
    const on = await sharedCliStage();
    const { id } = await waiting(on);
    await waiting(on, 'create other.md with x');
    const ambiguous = await on.run('approve', 'session-');
    expect(ambiguous).toMatchObject({ code: 3, stderr: expect.stringContaining('Several sessions begin') });
    expect(await on.file('test.md')).toBeUndefined();
    const begun = await on.run('approve', id.slice(0, -4));
    expect((await on.run('approve', codeShownIn(begun.stdout))).code).toBe(0);
    expect((await on.run('watch', id.replace('session-', '').slice(0, 20))).code).toBe(0);
    expect(await on.file('test.md')).toBe('hello');
  });
});

describe('the command answer', () => {
  it('R69 answer sends the text to an agent without extensions, and waits until the task ends or asks again', async () => {
    const agent = await plainAgent('1.0');
    const home = await temporaryDirectory();
    const at = { home, env: { MCP_A2A_BRIDGE_AGENT_URL: agent.url } };
    cleanUpLater(() => agent.stop());
    const peer = new A2aPeer({ url: agent.url, token: 'none' });
    const sent = await peer.call('SendMessage', { message: writtenMessage('Greet me') });
    const { task } = z.object({ task: z.object({ contextId: z.string() }) }).parse(sent);
    const approved = await cli(['approve', task.contextId], at);
    expect(approved).toMatchObject({ code: 3, stderr: expect.stringContaining('asks a question') });
    const [, shown = ''] = /answer ([0-9a-f]{8})/.exec(approved.stderr) ?? [];
    const { code, stdout } = await cli(['answer', shown, 'Ada', 'Lovelace'], at);
    expect(stdout).toContain('completed');
    expect(code).toBe(0);
    expect(agent.received).toEqual(['Greet me', 'Ada Lovelace']);
    expect((await cli(['answer', task.contextId, 'again'], at)).code).toBe(4);
  });
});
