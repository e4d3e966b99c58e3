/** Tests agent commands at a terminal, with the real command line, server and files. */
import { describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { cliStage, cliStageAgain, codeShownIn, sharedCliStage } from './support/cli-stage.ts';

const result = z.looseObject({ sessionId: z.string(), state: z.string(), output: z.string() });
const waiting = z.looseObject({ sessionId: z.string() });

describe('the commands of the agent, at the command line', () => {
  it('the list of commands shows how to use each command', async () => {
    const on = await sharedCliStage();
    const { code, stdout } = await on.run('commands');
    expect(code).toBe(0);
    expect(stdout).toContain('checkpoint restore <id>');
    expect(await on.json('commands')).toMatchObject({
      commands: expect.arrayContaining([expect.objectContaining({ name: 'init' })]),
    });
  });

  it('R20 the command "restore" restores a changed file after approval, on a server that restarted after a kill', async () => {
    const before = await cliStage();
    await writeFile(join(before.server.workspace, 'notes.md'), 'mine\n');
    const task = await before.peer.send('Create notes.md with "theirs"');
    expect((await before.run('approve', await before.code(task.sessionId))).code).toBe(0);
    expect((await before.run('watch', task.sessionId)).code).toBe(0);
    expect(await before.file('notes.md')).toBe('theirs');
    await before.server.kill();

    const on = await cliStageAgain(before);
    const list = result.parse(await on.json('command', 'checkpoint', 'list'));
    const id = /- (\S+), .*notes\.md \(changed\)/.exec(list.output)?.[1] ?? '';
    const asked = await on.run('command', 'checkpoint', 'restore', id);
    expect(asked).toMatchObject({ code: 6, stdout: expect.stringContaining('+mine') });
    const code = codeShownIn(asked.stdout);
    // The test kills the server a second time, while the restoration waits for approval.
    await on.server.kill();
    const last = await cliStageAgain(on);
    const { sessionId } = waiting.parse(await last.json('show', code));
    expect((await last.run('approve', code)).code).toBe(0);
    expect((await last.run('watch', sessionId)).stdout).toContain('Restored 1 file: notes.md.');
    expect(await last.file('notes.md')).toBe('mine\n');
  });

  it('the command "tool <name>" calls one tool, and the call waits if the policy asks', async () => {
    const on = await sharedCliStage();
    await writeFile(join(on.server.workspace, 'notes.md'), 'mine\n');
    const read = result.parse(await on.json('command', 'tool', 'list-files', '{"path":"."}'));
    expect(read).toMatchObject({ state: 'completed', output: expect.stringContaining('notes.md') });
    const asked = await on.run('command', 'tool', 'write-file', '{"path":"a.md","content":"hello"}');
    expect(asked.code).toBe(6);
    expect((await on.run('approve', codeShownIn(asked.stdout))).code).toBe(0);
    const [task] = await on.peer.list();
    await (await on.peer.follow(task?.taskId ?? '', 0)).rest();
    expect(await on.file('a.md')).toBe('hello');
    const wrong = await on.run('command', 'tool', 'write-file', '{"path":1}');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('path') });
  });

  it('an unknown command fails with the list of commands, and a command that cannot run fails with the reason', async () => {
    const on = await sharedCliStage();
    const unknown = await on.run('command', 'undo');
    expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining('checkpoint restore') });
    const failed = await on.run('command', 'checkpoint', 'restore', 'none.1');
    expect(failed.code).toBe(5);
    expect(`${failed.stdout}${failed.stderr}`).toContain('There is no checkpoint "none.1"');
    expect(await on.json('command', 'undo')).toMatchObject({ error: { reason: 'UNKNOWN_COMMAND' } });
  });
});
