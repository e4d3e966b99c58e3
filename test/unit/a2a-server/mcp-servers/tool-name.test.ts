import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mcpToolName } from '../../../../a2a-server/mcp-servers/tool-name.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

test('a valid tool name stays unchanged', () => {
  expect(mcpToolName('git-hub', 'create_issue')).toBe('mcp__git-hub__create_issue');
  expect(mcpToolName('a', '_b')).toBe('mcp__a___b');
});

test('a changed tool name, or a name that looks changed, ends in a hash', () => {
  for (const [server, tool] of [
    ['my server', 'look'],
    ['a', 'b.c'],
    ['a', 'ü'],
    ['a', 'x'.repeat(80)],
    ['a__b', 'c'],
    ['a', 'b_0123abcd'],
  ] as const)
    expect(mcpToolName(server, tool)).toMatch(/^mcp__[A-Za-z0-9_-]{1,50}_[0-9a-f]{8}$/);
});

test('every tool name is valid for all model providers, and different tools have different names', () => {
  const part = fc.stringMatching(/^[ab_ .]{1,5}$/);
  const names = new Map<string, string>();
  fc.assert(
    fc.property(part, part, (server, tool) => {
      const name = mcpToolName(server, tool);
      const key = JSON.stringify([server, tool]);
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(names.get(name) ?? key).toBe(key);
      names.set(name, key);
    }),
    { numRuns: numberOfRuns(2000) },
  );
});
