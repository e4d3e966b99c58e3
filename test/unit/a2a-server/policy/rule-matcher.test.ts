import { describe, expect, it, jest } from '@jest/globals';
import type { CallFacts } from '../../../../a2a-server/policy/call-facts.ts';
import {
  fetchCall,
  mcpCall,
  policyOf,
  readCall,
  commandCall,
  searchCall,
  writeCall,
} from '../../../support/judged-calls.ts';

function speaks(rule: Record<string, unknown>, call: CallFacts): boolean {
  return policyOf(rule).rules[0]?.matches(call) === 'yes';
}

describe('a policy rule by path', () => {
  it.each([
    ['docs/**', 'docs/a.md', true],
    ['docs/**', 'src/docs/a.md', false],
    ['*.md', 'docs/deep/a.md', true],
    ['./docs/*.md', 'docs/a.md', true],
    ['docs/*.md', 'docs/deep/a.md', false],
    ['**/.env', '.env', true],
    ['docs/*', 'docs/.hidden', true],
    ['!docs/*', 'src/a.md', false],
  ])('the pattern %j allows the path %j: %s', (path, at, expected) => {
    expect(speaks({ action: 'allow', path }, writeCall(at))).toBe(expected);
  });

  it('a rule with several patterns allows each path that one of them matches', () => {
    const rule = { action: 'allow', path: ['docs/**', 'src/**'] };
    expect(['docs/a', 'src/a', 'lib/a'].map((at) => speaks(rule, writeCall(at)))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it.each([
    ['has more names than any sensible path', 'a/b/'.repeat(51)],
    ['is longer than a path of Linux', `${'n'.repeat(200)}/`.repeat(21)],
    ['has a name that is longer than a name of Linux', 'n'.repeat(256)],
  ])('X3 a path that %s is denied and not allowed, without a search', (_, path) => {
    expect(speaks({ path: 'no-such-name', action: 'deny' }, writeCall(path))).toBe(true);
    expect(speaks({ path: '**', action: 'allow' }, writeCall(path))).toBe(false);
  });

  it('a rule allows a call with several paths if it allows every path, and denies the call if it denies one path', () => {
    const [inside, outside] = [writeCall('docs/a'), writeCall('src/a')];
    const both = {
      ...inside,
      reach: { ...inside.reach, paths: [...inside.reach.paths, ...outside.reach.paths] },
    };
    expect(speaks({ action: 'allow', path: 'docs/**' }, both)).toBe(false);
    expect(speaks({ action: 'allow', path: ['docs/**', 'src/**'] }, both)).toBe(true);
    expect(speaks({ action: 'deny', path: 'src/**' }, both)).toBe(true);
  });

  it('an allow rule checks the resolved path; a deny rule checks the written and the resolved path', () => {
    const linked = writeCall('docs/link.md', 'secrets/key.md');
    expect(speaks({ action: 'allow', path: 'docs/**' }, linked)).toBe(false);
    expect(speaks({ action: 'deny', path: 'docs/**' }, linked)).toBe(true);
    expect(speaks({ action: 'deny', path: 'secrets/**' }, linked)).toBe(true);
  });

  it.each([
    ['secrets/**', 'ſecrets/a'],
    ['pass.txt', 'paẞ.txt'],
    ['straße/**', 'STRASSE/a'],
    ['geheim-schlüssel', 'Geheim-Schlu\u0308ssel'],
    ['geheim-schlu\u0308ssel', 'geheim-schlüssel'],
    ['.env', '.e\u200dnv'],
    ['?x', 'ﬁx'],
  ])('a deny rule for %j covers %j, which may be another spelling of the same file', (path, at) => {
    expect(speaks({ action: 'deny', path }, readCall(at))).toBe(true);
    expect(speaks({ action: 'allow', path }, readCall(at))).toBe(path === '?x');
  });

  it('X3 a deny rule normalises a path once for all its patterns, and an ASCII path never: a search compares thousands', () => {
    const { matches } = policyOf({ action: 'deny', path: ['a/**', 'b/**', 'c/**'] }).rules[0] ?? {};
    const normalize = jest.spyOn(String.prototype, 'normalize');
    try {
      expect(matches?.(readCall('src/main.ts'))).toBe('no');
      expect(normalize).toHaveBeenCalledTimes(0);
      expect(matches?.(readCall('src/für.ts'))).toBe('no');
      expect(normalize).toHaveBeenCalledTimes(1);
    } finally {
      normalize.mockRestore();
    }
  });

  it('a deny rule ignores letter case, and covers all files below the named directory', () => {
    expect(speaks({ action: 'deny', path: 'Secrets/**' }, writeCall('secrets/a'))).toBe(true);
    expect(speaks({ action: 'deny', path: '.git' }, writeCall('.git/hooks/pre-commit'))).toBe(true);
    expect(speaks({ action: 'allow', path: '.git' }, writeCall('.git/hooks/pre-commit'))).toBe(false);
    expect(speaks({ action: 'allow', path: 'Docs/**' }, writeCall('docs/a'))).toBe(false);
  });

  it.each([
    ['.env', 'src', true],
    ['secrets/**', '.', true],
    ['secrets/**', 'secrets/deep', true],
    ['app/secrets/*.key', 'app', true],
    ['app/secrets/*.key', 'app/secrets', true],
    ['app/*/secret.key', 'app/deep', true],
    ['secrets/**', 'src', false],
    ['secrets/**', 'secretsx', false],
  ])('%j denies a search of %j: %s', (path, tree, expected) => {
    expect(speaks({ action: 'deny', path }, searchCall(tree))).toBe(expected);
  });

  it('a path rule never allows a search of a directory tree, and does not match calls without paths', () => {
    expect(speaks({ action: 'allow', path: '**' }, searchCall('.'))).toBe(false);
    for (const action of ['allow', 'deny'])
      expect(speaks({ action, path: '**' }, commandCall('cat .env'))).toBe(false);
  });
});

describe('a policy rule by host', () => {
  it('a host rule matches the named host, and with a glob its subdomains', () => {
    expect(speaks({ action: 'allow', host: 'example.com' }, fetchCall('example.com'))).toBe(true);
    expect(speaks({ action: 'allow', host: 'example.com' }, fetchCall('evil-example.com'))).toBe(false);
    expect(speaks({ action: 'allow', host: '*.example.com' }, fetchCall('a.b.example.com'))).toBe(true);
    expect(speaks({ action: 'allow', host: '*.example.com' }, fetchCall('example.com'))).toBe(false);
    expect(speaks({ action: 'deny', host: ['a.com', 'b.com'] }, fetchCall('b.com'))).toBe(true);
  });

  it('a host rule ignores letter case, and treats an exclamation mark as a plain character', () => {
    expect(speaks({ action: 'allow', host: 'Example.COM' }, fetchCall('example.com'))).toBe(true);
    expect(speaks({ action: 'allow', host: '*' }, fetchCall('.hidden.example.com'))).toBe(true);
    for (const action of ['allow', 'deny'])
      expect(speaks({ action, host: '!evil.com' }, fetchCall('good.com'))).toBe(false);
  });

  it('an allow rule needs a match for every host, and a deny rule needs one match', () => {
    const both = fetchCall('good.com', 'bad.com');
    expect(speaks({ action: 'allow', host: 'good.com' }, both)).toBe(false);
    expect(speaks({ action: 'deny', host: 'bad.com' }, both)).toBe(true);
    expect(speaks({ action: 'allow', host: '*' }, writeCall('a'))).toBe(false);
  });
});

describe('a policy rule by tool and server', () => {
  it('a rule matches the named tools and servers', () => {
    expect(speaks({ action: 'allow', tool: ['fetch', 'write-*'] }, writeCall('a'))).toBe(true);
    expect(speaks({ action: 'allow', tool: 'write-file' }, readCall('a'))).toBe(false);
    expect(speaks({ action: 'deny', server: 'git*' }, mcpCall('github', 'mcp__github__push'))).toBe(true);
    expect(speaks({ action: 'deny', server: '*' }, writeCall('a'))).toBe(false);
    expect(speaks({ action: 'deny', server: '*' }, mcpCall('.hidden', 'mcp__hidden__push'))).toBe(true);
    expect(speaks({ action: 'deny', server: '!github' }, mcpCall('gitlab', 'mcp__gitlab__push'))).toBe(false);
  });

  it('a rule matches a call only if all its conditions match', () => {
    const rule = { action: 'allow', tool: 'write-file', path: 'docs/**' };
    expect(speaks(rule, writeCall('docs/a'))).toBe(true);
    expect(speaks(rule, writeCall('src/a'))).toBe(false);
    expect(speaks(rule, readCall('docs/a'))).toBe(false);
  });
});
