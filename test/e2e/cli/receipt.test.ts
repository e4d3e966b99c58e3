/** Tests `receipt` and `verify-receipt`, with the real command line and a real server. */
import { describe, expect, it } from '@jest/globals';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plan, write } from '../../support/offline-plan.ts';
import { cliStageOf, sharedCliStage } from './support/cli-stage.ts';
import { stage } from '../../support/stage.ts';

describe('a receipt', () => {
  it('a receipt names the person, the channel and the outcome; verify-receipt compares the receipt with the journal', async () => {
    const on = await sharedCliStage();
    const { sessionId } = await on.peer.send(plan(write('a.txt', 'hello'), { say: 'done' }));
    await on.run('approve', await on.code(sessionId));
    const shown = await on.run('receipt', sessionId);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(/\*\*Approved\*\* by the local user on the command line at/);
    expect(shown.stdout).toContain('**succeeded**');

    const taken = join(on.server.workspace, 'a-file');
    await writeFile(taken, '');
    expect(await on.run('receipt', sessionId, '--out', taken)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        `The receipts cannot be written to ${taken}: a part of the path is a file`,
      ),
    });

    const out = join(on.server.workspace, 'receipts');
    expect((await on.run('receipt', sessionId, '--out', out)).code).toBe(0);
    const files = await readdir(out);
    expect(files.map((file) => file.replace(/.*\./, '')).toSorted()).toEqual(['json', 'md']);
    for (const file of files) {
      const path = join(out, file);
      const verified = await on.run('verify-receipt', path);
      expect(verified).toMatchObject({ code: 0 });
      expect(verified.stdout).toMatch(/key of agent.*\n.*still contains the same \d+ events/);
      await writeFile(path, (await readFile(path, 'utf8')).replace('hello', 'hullo'));
      const refused = await on.run('verify-receipt', path);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain('has changed');
    }
  });

  it('a receipt from a server with an unknown key is refused, unless --key names the key', async () => {
    const on = await sharedCliStage();
    const { sessionId } = await on.peer.send('say hi');
    const out = join(on.server.workspace, 'receipts');
    expect(await on.run('receipt', sessionId, '--out', out)).toMatchObject({ code: 0, stderr: '' });
    const [file = ''] = await readdir(out);
    const other = cliStageOf(await stage());
    const unknown = await other.run('verify-receipt', join(out, file));
    expect(unknown.code).not.toBe(0);
    expect(unknown.stderr).toContain('anyone may have signed');
    const [key = ''] = /SHA256:\S+/.exec(unknown.stdout) ?? [];
    expect(await other.run('verify-receipt', join(out, file), '--key', key)).toMatchObject({ code: 0 });
    const wrong = await other.run('verify-receipt', join(out, file), '--key', 'SHA256:other');
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toContain('not SHA256:other');
  });
});
