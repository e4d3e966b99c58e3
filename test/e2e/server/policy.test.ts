/** Tests policy rules for an operator: a dry run while the server runs, and a refused start. */
import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { decisionOn } from '../../support/a2a-message.ts';
import { append, plan, shell } from '../../support/offline-plan.ts';
import { stage } from '../../support/stage.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PROGRAM = join(process.cwd(), 'dist', 'a2a-server', 'main.js');
const failed = z.object({ code: z.number(), stderr: z.string() });

async function server(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [PROGRAM, ...args])) };
  } catch (error) {
    return { stdout: '', ...failed.parse(error) };
  }
}

async function rulesFile(content: unknown): Promise<string> {
  const path = join(await temporaryDirectory(), 'rules.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('a2a-server policy try', () => {
  it('policy try lists for each past call the verdict of the new rules and the earlier verdict, while the server runs', async () => {
    const on = await stage();
    const { taskId, pending } = await on.peer.send(
      plan({ together: [append('a.md', 'a'), shell('git push')] }),
    );
    await on.peer.decide(taskId, [decisionOn(pending, 'approve')]);
    await on.peer.decide(taskId, [decisionOn(pending.slice(1), 'deny')]);
    const rules = await rulesFile([
      { action: 'allow', path: '*.md' },
      { action: 'deny', command: 'git push', comment: 'never from here' },
    ]);
    const state = ['--state-dir', on.server.stateDir];
    const { stdout, code } = await server('policy', 'try', '--rules', rules, ...state);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^\* .* append-file: Append to a\.md\n {4}then {2}asked: approved by the local user .*\n {4}now {3}runs unasked \(rule 1 \(allow: path "\*\.md"\)\)$/mu,
    );
    expect(stdout).toMatch(
      /then {2}asked: denied by the local user.*\n {4}now {3}is refused \(.*rule 2 .*never from here/u,
    );
    expect(stdout).toContain(
      '2 calls of 1 task: 1 would run without a question, 0 would ask, 1 would be refused.',
    );
    expect(stdout).toContain('ask → allow 1, ask → refuse 1');
    // The configuration has no rules, so nothing changes.
    const json: unknown = JSON.parse((await server('policy', 'try', '--json', '--changed', ...state)).stdout);
    expect(json).toEqual({
      calls: [],
      summary: { calls: 2, tasks: 1, now: { allow: 0, ask: 2, presence: 0, refuse: 0 }, changed: {} },
    });
    // The running server must still work.
    expect((await on.peer.send('create b.md with b')).pending).toHaveLength(1);
  });

  it('policy try includes the permissions that an ACP agent requests, and starts no agent', async () => {
    const on = await stage();
    const config = await rulesFile({ server: { agent: ['acp', 'no-such-program'] } });
    const rules = await rulesFile([{ action: 'deny', tool: 'execute' }]);
    const args = ['--rules', rules, '--config', config, '--state-dir', on.server.stateDir];
    const { code, stdout } = await server('policy', 'try', ...args);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('0 calls of 0 tasks') });
  });

  it.each([
    ['not JSON', '{', /cannot be used: .*JSON/u],
    ['no list', { policy: [] }, /must contain a list of rules/u],
    ['an unknown tool', [{ action: 'deny', tool: 'write-fil' }], /rule 1 .*does not exist/u],
  ])('policy try refuses rules that are %s', async (_, content, message) => {
    const state = await temporaryDirectory();
    const { code, stderr } = await server(
      'policy',
      'try',
      '--rules',
      await rulesFile(content),
      '--state-dir',
      state,
    );
    expect(code).toBe(78);
    expect(stderr).toMatch(message);
  });

  it('policy try reports a missing journal, and creates none', async () => {
    const state = await temporaryDirectory();
    for (const _ of [1, 2])
      expect(await server('policy', 'try', '--state-dir', state)).toMatchObject({
        code: 78,
        stderr: expect.stringContaining('There is no journal'),
      });
  });
});

describe('policy rules in the configuration file', () => {
  it('contradictory rules prevent the start of the server, and the error names both', async () => {
    const config = await rulesFile({
      server: {
        policy: [
          { action: 'allow', command: 'git push' },
          { action: 'deny', command: 'git push' },
        ],
      },
    });
    const { code, stderr } = await server(
      '--config',
      config,
      '--state-dir',
      await temporaryDirectory(),
      '--port',
      '0',
    );
    expect(code).toBe(78);
    expect(stderr).toMatch(
      /rule 1 \(allow: command "git push"\) and rule 2 \(deny: command "git push"\) contradict/u,
    );
  });
});
