import { describe, expect, it } from '@jest/globals';
import { createPolicy } from '../../../../a2a-server/policy/create-policy.ts';
import { rulesSchema } from '../../../../a2a-server/policy/rule.ts';
import { zodIssuesText } from '../../../../shared/text/input-problem.ts';
import { policyOf, commandCall, TOOL_NAMES } from '../../../support/judged-calls.ts';

/** Returns the result of the function, or the error that it throws. */
function attempt(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

function refused(...written: Record<string, unknown>[]): unknown {
  return attempt(() => void policyOf(...written));
}

describe('createPolicy, which reads the policy rules', () => {
  it('createPolicy refuses two rules with different actions for exactly the same calls, and names both', () => {
    const error = refused(
      { action: 'allow', tool: ['fetch', 'write-file'], path: 'a' },
      { action: 'ask', tool: 'fetch' },
      { action: 'deny', tool: ['write-file', 'fetch'], path: 'a', comment: 'no' },
    );
    expect(error).toMatchObject({
      reason: 'CONFIGURATION',
      message: expect.stringMatching(/rule 1 \(allow: .*\) and rule 3 \(deny: .*\) contradict each other/),
    });
    expect(refused({ action: 'deny', path: 'a' }, { action: 'deny', path: 'a' })).toBeUndefined();
  });

  it('createPolicy refuses a tool that does not exist, and names the existing tools', () => {
    for (const tool of ['write-fil', 'send-*'])
      expect(refused({ action: 'allow', tool: 'fetch' }, { action: 'deny', tool })).toMatchObject({
        reason: 'CONFIGURATION',
        message: expect.stringMatching(new RegExp(`rule 2 .*"${tool.replace('*', '\\*')}".*read-file, `)),
      });
  });

  it.each([
    [{ action: 'ask', approver: {} }, 'it needs fourEyes, group, or both'],
    [{ action: 'ask', approver: { fourEyes: false, group: 'a' } }, 'write true, or leave it out'],
    [{ action: 'ask', approver: { group: 'a b' } }, 'a group has 1 to 100 letters'],
    [{ action: 'ask', approver: { groups: ['a'] } }, 'Unrecognized key: "groups"'],
    [{ action: 'ask', approvers: { group: 'a' } }, 'Unrecognized key: "approvers"'],
    [{ action: 'allow', approver: { group: 'a' } }, 'only a rule with the action "ask" or "presence"'],
    [{ action: 'deny', approver: { fourEyes: true } }, 'only a rule with the action "ask" or "presence"'],
  ])('R121 the rule %j is refused: %s', (written, problem) => {
    const read = rulesSchema.safeParse([{ tool: 'fetch', ...written }]);
    expect(read.error && zodIssuesText(read.error)).toContain(problem);
  });

  it.each([
    [{ path: 'secrets/' }, 'the path "secrets/" matches nothing'],
    [{ path: ['a', 'a//b'] }, 'the path "a//b" matches nothing'],
    [{ path: 'a/./b' }, 'the path "a/./b" matches nothing'],
    [{ host: 'https://example.com' }, 'the host "https://example.com" matches nothing'],
    [{ host: 'example.com:8080' }, 'the host "example.com:8080" matches nothing'],
    [{ host: ['a.example', 'example.com.'] }, 'the host "example.com." matches nothing'],
  ])('createPolicy refuses the condition %j, because a deny rule would deny nothing', (written, problem) => {
    for (const action of ['deny', 'allow'])
      expect(refused({ action, ...written })).toMatchObject({
        reason: 'CONFIGURATION',
        message: expect.stringContaining(problem),
      });
  });

  it('createPolicy accepts a path from the root, a path outside the workspace, and an IPv6 address', () => {
    for (const written of [{ path: ['/a/b', './a/**', '../**', '.'] }, { host: ['::1', '*', '2001:db8::2'] }])
      expect(refused({ action: 'deny', ...written })).toBeUndefined();
  });

  it('createPolicy accepts any tool name of an MCP server, because the server connects later', () => {
    expect(refused({ action: 'deny', tool: ['mcp__git__push', 'mcp__*'] })).toBeUndefined();
  });

  it.each(['git status; ls', 'git $X', '', '   '])('createPolicy refuses %j as a command', (command) => {
    expect(command === '' || refused({ action: 'allow', command }) !== undefined).toBe(true);
    expect(command !== '' || !rulesSchema.safeParse([{ action: 'allow', command }]).success).toBe(true);
  });

  it.each(['git … push', 'git ... push'])(
    'createPolicy refuses %j: only the last word of a command may stand for more words',
    (command) => {
      expect(refused({ action: 'allow', command })).toMatchObject({
        reason: 'CONFIGURATION',
        message: expect.stringContaining('is not a plain list of words'),
      });
    },
  );

  it('createPolicy reads commands as the platform’s shell does', () => {
    const rules = rulesSchema.parse([{ action: 'allow', command: 'git "^x"' }]);
    const shell = process.platform === 'win32' ? 'cmd' : 'sh';
    const verdicts = [{}, { shell }, { shell: shell === 'sh' ? 'cmd' : 'sh' }] as const;
    const [byDefault, own, other] = verdicts.map((options) =>
      attempt(() =>
        createPolicy(rules, { tools: TOOL_NAMES, ...options }).rules[0]?.matches(commandCall('git "^x"')),
      ),
    );
    expect(byDefault).toEqual(own);
    expect(byDefault).not.toEqual(other);
  });

  it.each([
    [{ action: 'allow' }],
    [{ action: 'permit', tool: '*' }],
    [{ action: 'allow', tool: [] }],
    [{ action: 'allow', tools: 'fetch' }],
    [{ tool: 'fetch' }],
    ['allow'],
  ])('createPolicy accepts no rule like %j', (written) => {
    expect(rulesSchema.safeParse([written]).success).toBe(false);
  });
});
