import { expect, test } from '@jest/globals';
import { approvalScopesOf } from '../../../../../../a2a-server/page/browser/action/approval-scopes.ts';

test.each([
  ['built-in', ['once', 'tool', 'always']],
  ['mcp-server', ['once', 'tool', 'server', 'always']],
] as const)('the page offers the scopes that the server accepts for a tool that is %s', (type, scopes) => {
  expect(approvalScopesOf({ source: { type } }).map(([scope]) => scope)).toEqual(scopes);
});
