/** Tests a rule that says who may approve, with real servers and tokens of three people. */
import { describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { A2aPeer } from '../../support/a2a-peer.ts';
import { actionOf, decisionOn } from '../../support/a2a-message.ts';
import { plan, write } from '../../support/offline-plan.ts';
import { stageWithRules } from '../../support/presence-stage.ts';
import { issueToken, tokenCommand } from '../../support/issue-token.ts';
import { stage, stageAgain } from '../../support/stage.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cliAtTerminal } from '../cli/support/cli.ts';
import { cliStageOf } from '../cli/support/cli-stage.ts';

const SAYS = 'Needs the approval of somebody else, in group release';
const RULE = { action: 'ask', path: 'secret.txt', approver: { fourEyes: true, group: 'release' } };

describe('a rule that says who may approve', () => {
  it('R121 the delegator and a colleague outside of the group are refused, also after a restart without the rule; a member approves', async () => {
    const config = join(await temporaryDirectory(), 'config.json');
    await writeFile(config, JSON.stringify({ server: { policy: [RULE] } }));
    let on = await stage({ args: ['--config', config] });
    const tokenOf = (name: string, ...more: string[]): Promise<string> =>
      issueToken(on.server, name, ...more);
    const people = {
      ann: await tokenOf('ann', '--group', 'release', '--group', 'docs'),
      bob: await tokenOf('bob'),
      cleo: await tokenOf('cleo', '--group', 'release'),
    };
    const as = (name: keyof typeof people): A2aPeer =>
      new A2aPeer({ url: on.server.url, token: people[name] });
    expect(await tokenCommand(on.server, 'list')).toMatch(
      /acme\/ann {2}delegate,approve {2}in the groups release and docs {2}active/,
    );
    await expect(tokenOf('eve', '--group', 'a b')).rejects.toMatchObject({
      stderr: expect.stringContaining('--group takes 1 to 100 letters'),
    });

    const { taskId } = await as('ann').send(plan(write('secret.txt', 'launch'), { say: 'done' }));
    const seenBy = async (name: keyof typeof people) => (await as(name).task(taskId)).pending;
    expect(await seenBy('ann')).toMatchObject([
      { approver: { otherThan: ['acme/ann'], groups: ['release'] }, decisions: ['deny'] },
    ]);
    expect(await seenBy('cleo')).toMatchObject([{ decisions: ['approve', 'deny', 'edit'] }]);
    const approve = async (name: keyof typeof people) =>
      as(name).decide(taskId, [decisionOn(await seenBy(name), 'approve')]);
    const refused = async (name: keyof typeof people): Promise<void> => {
      await expect(approve(name)).rejects.toMatchObject({ reason: 'OTHER_APPROVER_REQUIRED' });
      expect(await on.file('secret.txt')).toBeUndefined();
    };
    await refused('ann');
    await refused('bob');

    await on.server.kill();
    await writeFile(config, JSON.stringify({ server: {} }));
    on = await stageAgain(on);
    await refused('ann');
    await refused('bob');
    const stream = await approve('cleo');
    await stream.rest();
    expect(await on.file('secret.txt')).toBe('launch');
    expect((await as('ann').task(taskId)).state).toBe('COMPLETED');
  });

  it('R121 the command line says who must approve, approves nothing, and takes a denial; a grant on another call covers nothing', async () => {
    const on = cliStageOf(await stageWithRules({ ...RULE, approver: { group: 'release' } }));
    const { taskId, pending } = await on.peer.send(
      plan(write('open.txt', 'a'), write('secret.txt', 'b'), { say: 'Left.' }),
    );
    const stream = await on.peer.decide(taskId, [{ ...decisionOn(pending, 'approve'), scope: 'always' }]);
    await stream.rest();
    const { pending: asked } = await on.peer.task(taskId);
    expect(asked).toMatchObject([{ title: 'Write secret.txt', decisions: ['deny'] }]);
    const { shown } = actionOf(asked);
    expect((await on.run('show', shown)).stdout).toMatch(
      new RegExp(`\\n${SAYS}\\.\\n[^]*\\nDeny it with: mcp-a2a-bridge deny ${shown}\\n`),
    );
    const refused = await on.run('approve', shown);
    expect(refused).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('local is not in group release'),
    });
    expect(await on.run('edit', shown, '--file', 'other.txt')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(`${SAYS}. Nothing was decided. Deny it with`),
    });
    const { code, stdout } = await cliAtTerminal(['run', plan(write('secret.txt', 'c'), { say: 'Left.' })], {
      ...on.at,
      keys: 'n not today\n',
      prompt: 'leaves it waiting:',
    });
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${SAYS}. Deny Write secret.txt`),
    });
    expect(await on.file('secret.txt')).toBeUndefined();
  });
});
