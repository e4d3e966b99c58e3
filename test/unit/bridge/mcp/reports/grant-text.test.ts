import { describe, expect, test } from '@jest/globals';
import { grantText, unexpiredGrantViews } from '../../../../../bridge/mcp/reports/grant-text.ts';
import type { GrantView } from '../../../../../shared/protocol/tool-approval.ts';

const NOW = Date.UTC(2026, 0, 2);

function grant(changes: Partial<GrantView> = {}): GrantView {
  return {
    grantId: 'g12',
    scope: 'tool',
    tool: 'write-file',
    source: { type: 'built-in' },
    by: 'ada',
    channel: 'cli',
    at: '2026-01-01T00:00:00.000Z',
    expiresAt: null,
    usesLeft: null,
    ...changes,
  };
}

describe('trust grants as text', () => {
  test.each([
    [{}, 'g12: write-file, by ada on the command line'],
    [{ scope: 'always' }, 'g12: everything, by ada on the command line'],
    [
      { scope: 'server', source: { type: 'mcp-server', server: 'git' } },
      'g12: MCP server git, by ada on the command line',
    ],
    [{ usesLeft: 1 }, 'g12: write-file, 1 use left, by ada on the command line'],
    [
      { usesLeft: 2, expiresAt: '2026-01-02T00:10:00.000Z' },
      'g12: write-file, until 2026-01-02T00:10:00.000Z, 2 uses left, by ada on the command line',
    ],
  ] as const)('the grant %j is shown as "%s"', (changes, words) => {
    expect(grantText(grant(changes))).toBe(words);
  });

  test('R12 an expired grant is not listed', () => {
    const [past, future] = [
      grant({ expiresAt: new Date(NOW).toISOString() }),
      grant({ expiresAt: new Date(NOW + 1).toISOString() }),
    ];
    expect(unexpiredGrantViews([past, future, grant()], NOW)).toEqual([future, grant()]);
    expect(unexpiredGrantViews(undefined, NOW)).toEqual([]);
  });
});
