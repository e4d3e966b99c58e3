import { describe, expect, it } from '@jest/globals';
import { rulesSchema } from '../../../../a2a-server/policy/rule.ts';
import { policyOf } from '../../../support/judged-calls.ts';

function refused(...written: Record<string, unknown>[]): unknown {
  try {
    policyOf(...written);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('createPolicy', () => {
  it('refuses two rules with different actions for exactly the same calls, and names both', () => {
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

  it('refuses a tool that does not exist, and names the existing ones', () => {
    for (const tool of ['write-fil', 'send-*'])
      expect(refused({ action: 'allow', tool: 'fetch' }, { action: 'deny', tool })).toMatchObject({
        reason: 'CONFIGURATION',
        message: expect.stringMatching(new RegExp(`rule 2 .*"${tool.replace('*', '\\*')}".*read-file, `)),
      });
  });

  it('accepts any name of an MCP server’s tool, because the server connects later', () => {
    expect(refused({ action: 'deny', tool: ['mcp__git__push', 'mcp__*'] })).toBeUndefined();
  });

  it.each(['git status; ls', 'git $X', '', '   '])('refuses %j as a command', (command) => {
    expect(command === '' || refused({ action: 'allow', command }) !== undefined).toBe(true);
    expect(command !== '' || !rulesSchema.safeParse([{ action: 'allow', command }]).success).toBe(true);
  });

  it.each([
    [{ action: 'allow' }],
    [{ action: 'permit', tool: '*' }],
    [{ action: 'allow', tool: [] }],
    [{ action: 'allow', tools: 'fetch' }],
    [{ tool: 'fetch' }],
    ['allow'],
  ])('accepts no rule like %j', (written) => {
    expect(rulesSchema.safeParse([written]).success).toBe(false);
  });
});
