import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CallFacts } from '../../../../a2a-server/policy/call-facts.ts';
import { EMPTY_POLICY, type Policy } from '../../../../a2a-server/policy/create-policy.ts';
import { decideVerdict } from '../../../../a2a-server/policy/verdict.ts';
import type { Grant } from '../../../../a2a-server/task/grants.ts';
import type { TaskSettings } from '../../../../shared/protocol/tool-approval.ts';
import {
  fetchCall,
  mcpCall,
  policyOf,
  readCall,
  commandCall,
  writeCall,
} from '../../../support/judged-calls.ts';

const write = writeCall('a.txt');
const look = readCall('a.txt');

function grant(scope: Grant['scope'], { tool, source }: CallFacts): Grant {
  const by = { principal: 'ada', channel: 'test' };
  return { grantId: 'g1', scope, callId: 'call-1', tool, source, by, at: 0, expiresAt: null, usesLeft: null };
}

function judge(
  call: CallFacts,
  settings: TaskSettings = {},
  { grants = [], policy = EMPTY_POLICY }: { grants?: Grant[]; policy?: Policy } = {},
) {
  return decideVerdict(call, { settings, grants, policy });
}

const tree = (path: string) => ({
  ...write,
  reach: { ...write.reach, paths: [], trees: [{ written: path, leadsTo: path }] },
});

describe('the policy’s verdict', () => {
  it('the policy asks about a call with side effects, and allows a read-only call', () => {
    expect(judge(write)).toEqual({ type: 'ask' });
    expect(judge(look)).toEqual({ type: 'allow', because: { type: 'read-only' } });
  });

  it.each([{ autoExecute: true }, { mode: 'auto' }] as const)(
    'R13 the policy never asks if the settings let everything run (%j)',
    (settings) => {
      expect(judge(write, settings)).toEqual({ type: 'allow', because: { type: 'auto-execute' } });
      expect(judge(commandCall('rm -rf /'), settings).type).toBe('allow');
    },
  );

  it('a presence rule asks and demands presence, also against modes and grants; only a deny rule is stronger', () => {
    const presence = { action: 'presence', path: 'a.txt' };
    const name = 'rule 1 (presence: path "a.txt")';
    const asked = { type: 'ask', rule: name, presence: true };
    const grants = [grant('always', write)];
    for (const settings of [{}, { mode: 'auto' }, { mode: 'accept-edits' }] as const)
      expect(judge(write, settings, { grants, policy: policyOf(presence) })).toEqual(asked);
    expect(judge(look, {}, { policy: policyOf(presence) })).toEqual(asked);
    const others = [
      { action: 'ask', tool: 'write-file' },
      { action: 'allow', tool: '*' },
    ];
    expect(judge(write, {}, { policy: policyOf(presence, ...others) })).toEqual(asked);
    const denied = policyOf(presence, { action: 'deny', tool: 'write-file' });
    expect(judge(write, {}, { policy: denied }).type).toBe('refuse');
    expect(judge(writeCall('b.txt'), { mode: 'auto' }, { policy: policyOf(presence) }).type).toBe('allow');
  });

  it('a presence rule about a command also demands presence if the meaning of the command is uncertain', () => {
    const policy = policyOf({ action: 'presence', command: 'git push' });
    for (const line of ['git push', 'cd a && git push -f', '$X push'])
      expect(judge(commandCall(line), { mode: 'auto' }, { policy })).toMatchObject({ presence: true });
    expect(judge(commandCall('git status'), { mode: 'auto' }, { policy }).type).toBe('allow');
  });

  it.each([{ readOnly: true, autoExecute: true }, { readOnly: true }, { mode: 'plan' }] as const)(
    'the policy refuses side effects if the task is read-only (%j), with any mode and any grant',
    (settings) => {
      const policy = policyOf({ action: 'allow', tool: '*' });
      expect(judge(write, settings, { grants: [grant('always', write)], policy }).type).toBe('refuse');
      expect(judge(look, settings).type).toBe('allow');
    },
  );

  it('with the mode "accept-edits", the policy allows file tools and asks about all other tools', () => {
    const settings = { mode: 'accept-edits' } as const;
    expect(judge(write, settings)).toEqual({ type: 'allow', because: { type: 'accept-edits' } });
    for (const call of [commandCall('ls'), fetchCall('example.com'), mcpCall('one', 'write-file')])
      expect(judge(call, settings)).toEqual({ type: 'ask' });
  });

  it.each([
    '.git/hooks/pre-commit',
    'packages/one/.GIT/config',
    '.git./hooks/x',
    '.vscode/tasks.json',
    'sub/.husky/pre-push',
    '.claude/settings.json',
    '.envrc',
    '.bash_aliases',
    '.cshrc',
    'sub/.mcp.json',
    'fixture/HEAD',
    'fixtures/repo.git/config',
    'node_modules/.bin/tsc',
    '.pre-commit-config.yaml',
    '.vſcode/tasks.json',
    '.ßh/config',
    '.g\u200cit/hooks/x',
  ])('with the mode "accept-edits", the policy asks about %s, which a program runs later', (path) => {
    expect(judge(writeCall(path), { mode: 'accept-edits' })).toEqual({ type: 'ask' });
    expect(judge(writeCall(path), { mode: 'auto' }).type).toBe('allow');
    const linked = { ...write, reach: { ...write.reach, paths: [{ written: 'a.txt', leadsTo: path }] } };
    expect(judge(linked, { mode: 'accept-edits' })).toEqual({ type: 'ask' });
  });

  it.each([
    '/home/ann/app/.vscode',
    '/home/ann/.Claude/commands',
    '/app/.git/hooks',
    '/app/.git/worktrees/a',
  ])('with the mode "accept-edits", the policy asks about every change in the workspace %s', (root) => {
    const inside = { ...write, reach: { ...write.reach, root } };
    expect(judge(inside, { mode: 'accept-edits' })).toEqual({ type: 'ask' });
  });

  it.each(['/home/ann/app', '/home/ann/app/.claude/worktrees/one', '/srv/app.git/main', ''])(
    'with the mode "accept-edits", the policy allows a change in the workspace %j',
    (root) => {
      const inside = { ...write, reach: { ...write.reach, root } };
      expect(judge(inside, { mode: 'accept-edits' }).type).toBe('allow');
    },
  );

  it('with the mode "accept-edits", the policy asks about a call that may change any file of the workspace', () => {
    expect(judge(tree('.'), { mode: 'accept-edits' })).toEqual({ type: 'ask' });
    expect(judge(tree('src'), { mode: 'accept-edits' }).type).toBe('allow');
    // X3: a search for dots at the end of the name would take minutes.
    expect(judge(writeCall(`${'.'.repeat(400_000)}x`), { mode: 'accept-edits' }).type).toBe('allow');
  });

  it.each([
    '.gitignore',
    '.github/workflows/ci.yml',
    'git/hooks',
    'src/profile',
    '...',
    '.mcp.json/a',
    'HEAD/a',
    'a.git',
  ])('with the mode "accept-edits", the policy allows a change of %s', (path) => {
    expect(judge(writeCall(path), { mode: 'accept-edits' }).type).toBe('allow');
  });

  it('R12 a grant for a tool covers that tool of that server, and no other', () => {
    const grants = [grant('tool', mcpCall('one', 'send'))];
    expect(judge(mcpCall('one', 'send'), {}, { grants }).type).toBe('allow');
    expect(judge(mcpCall('one', 'erase'), {}, { grants }).type).toBe('ask');
    expect(judge(mcpCall('two', 'send'), {}, { grants }).type).toBe('ask');
  });

  it('R12 a grant for a server covers all its tools, and no other server', () => {
    const grants = [grant('server', mcpCall('one', 'send'))];
    expect(judge(mcpCall('one', 'erase'), {}, { grants }).type).toBe('allow');
    expect(judge(mcpCall('two', 'send'), {}, { grants }).type).toBe('ask');
    expect(judge(write, {}, { grants }).type).toBe('ask');
  });

  it('R12 a grant with the scope "always" covers every call', () => {
    expect(judge(mcpCall('two', 'send'), {}, { grants: [grant('always', write)] }).type).toBe('allow');
  });

  it('the verdict names the rule that allowed a call, asked about it, or denied it', () => {
    const policy = policyOf(
      { action: 'allow', command: 'git status' },
      { action: 'ask', command: 'git push', comment: 'others see it' },
      { action: 'deny', host: 'evil.example' },
    );
    expect(judge(commandCall('git status'), {}, { policy })).toEqual({
      type: 'allow',
      because: { type: 'rule', rule: 'rule 1 (allow: command "git status")' },
    });
    expect(judge(commandCall('git push'), {}, { policy })).toEqual({
      type: 'ask',
      rule: 'rule 2 (ask: command "git push"): others see it',
    });
    expect(judge(fetchCall('evil.example'), {}, { policy })).toMatchObject({
      type: 'refuse',
      message: expect.stringContaining('rule 3 (deny: host "evil.example")'),
    });
  });

  it('deny rules and ask rules also apply to read-only calls', () => {
    const policy = policyOf({ action: 'deny', path: '.env' }, { action: 'ask', path: 'private/**' });
    expect(judge(readCall('web/.env'), {}, { policy }).type).toBe('refuse');
    expect(judge(readCall('private/notes.md'), {}, { policy }).type).toBe('ask');
  });

  it('the policy asks if a command perhaps matches a deny rule, also with the mode "auto"', () => {
    const policy = policyOf({ action: 'deny', command: 'git push' });
    expect(judge(commandCall('$X push'), { mode: 'auto' }, { policy }).type).toBe('ask');
    expect(judge(commandCall('git pull'), { mode: 'auto' }, { policy }).type).toBe('allow');
  });
});

describe('rules that say who may approve', () => {
  const publish = { action: 'ask', command: 'npm publish', approver: { group: 'release' } };
  const name = 'rule 1 (ask: command "npm publish"; approver: group release)';

  it('R121 they ask in every mode and against every grant, and demand the approver, also for an uncertain match', () => {
    const grants = [grant('always', commandCall('npm publish'))];
    const policy = policyOf(publish, { action: 'allow', tool: '*' });
    for (const mode of ['ask', 'accept-edits', 'auto'] as const) {
      const approver = { groups: ['release'] };
      expect(judge(commandCall('npm publish'), { mode }, { grants, policy })).toEqual({
        type: 'ask',
        rule: name,
        approver,
      });
      expect(judge(commandCall('$X publish'), { mode }, { grants, policy })).toMatchObject({ approver });
    }
    expect(judge(commandCall('npm test'), { mode: 'auto' }, { policy }).type).toBe('allow');
  });

  it('R121 the approver must meet all rules that match, also those of presence', () => {
    const policy = policyOf(
      { action: 'ask', tool: 'run-shell-command' },
      publish,
      { action: 'presence', command: 'npm', approver: { fourEyes: true, group: 'security' } },
      { action: 'ask', path: 'a.txt', approver: { group: 'docs' } },
    );
    expect(judge(commandCall('npm publish'), {}, { policy })).toEqual({
      type: 'ask',
      rule: expect.stringContaining('rule 3 (presence'),
      presence: true,
      approver: { fourEyes: true, groups: ['release', 'security'] },
    });
    expect(judge(commandCall('ls'), {}, { policy })).toEqual({
      type: 'ask',
      rule: expect.stringContaining('rule 1'),
    });
  });

  it('X1 if the server demands four eyes, the modes allow nothing, and each question demands another person', () => {
    const approver = { fourEyes: true } as const;
    const policy = { ...EMPTY_POLICY, approver };
    for (const mode of ['ask', 'accept-edits', 'auto'] as const)
      expect(judge(write, { mode }, { policy })).toEqual({ type: 'ask', approver });
    expect(judge(write, {}, { policy, grants: [grant('always', write)] })).toMatchObject({
      type: 'allow',
      because: { type: 'grant' },
      approver,
    });
  });
});

describe('the priority of rules: deny before ask before allow', () => {
  const action = fc.constantFrom('allow', 'ask', 'deny');
  const conditions = fc.constantFrom(
    { tool: 'write-file' },
    { tool: '*' },
    { path: 'docs/**' },
    { path: '*.md' },
    { tool: 'read-file' },
    { command: 'git push' },
    { command: 'git' },
    { host: '*.example.com' },
    { server: 'one' },
    { tool: 'write-file', path: 'docs/a.md' },
  );
  const written = fc.uniqueArray(fc.tuple(conditions, action), {
    selector: ([condition]) => JSON.stringify(condition),
  });
  const calls = fc.constantFrom(
    writeCall('docs/a.md'),
    writeCall('src/a.ts'),
    readCall('docs/a.md'),
    commandCall('git push'),
    commandCall('git status; git push'),
    fetchCall('www.example.com'),
    mcpCall('one', 'send'),
  );
  const settings = fc.constantFrom<TaskSettings>(
    {},
    { mode: 'accept-edits' },
    { mode: 'auto' },
    { mode: 'plan' },
    { readOnly: true },
  );
  const grants = fc.constantFrom<Grant[]>([], [grant('always', write)]);

  it('the priority is kept for any order of rules, any mode and any grants', () => {
    fc.assert(
      fc.property(
        written.chain((list) =>
          fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
        ),
        calls,
        settings,
        grants,
        ([list, shuffled], call, given, trust) => {
          const judgedBy = (each: typeof list) => {
            const policy = policyOf(...each.map(([condition, does]) => ({ action: does, ...condition })));
            const said = decideVerdict(call, { policy, settings: given, grants: trust });
            const spoken = new Set(
              policy.rules.filter(({ matches }) => matches(call) === 'yes').map((rule) => rule.action),
            );
            return { said: said.type, spoken };
          };
          const { said, spoken } = judgedBy(list);
          expect(judgedBy(shuffled).said).toBe(said);
          if (spoken.has('deny')) expect(said).toBe('refuse');
          else if (spoken.has('ask')) expect(said).not.toBe('allow');
        },
      ),
    );
  });
});
