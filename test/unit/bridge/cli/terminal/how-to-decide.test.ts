import { expect, it } from '@jest/globals';
import { howToDecideText } from '../../../../../bridge/cli/terminal/how-to-decide.ts';
import type { PendingAction } from '../../../../../shared/protocol/tool-approval.ts';

const action: PendingAction = {
  callId: 'c1',
  shown: '3f9ac2d1',
  tool: 'write_file',
  source: { type: 'built-in' },
  title: 'Write a.txt',
  sideEffect: 'files',
  input: {},
  preview: { type: 'command', command: 'x', cwd: '.' },
  reason: 'approval',
  decisions: ['approve', 'deny', 'edit'],
  scopes: ['once'],
  expiresAt: null,
};

it.each<[Partial<PendingAction>, string]>([
  [{}, 'Decide with: mcp-a2a-bridge approve 3f9ac2d1 (or deny, edit)'],
  [{ decisions: ['approve'] }, 'Decide with: mcp-a2a-bridge approve 3f9ac2d1'],
  [{ decisions: ['answer', 'deny'] }, 'Decide with: mcp-a2a-bridge answer 3f9ac2d1 <words> (or deny)'],
  [{ decisions: ['deny'], approver: { groups: ['a'] } }, 'Deny it with: mcp-a2a-bridge deny 3f9ac2d1'],
  [
    { presence: true },
    'A rule demands your passkey. Approve it on the page: mcp-a2a-bridge page. Deny it with: mcp-a2a-bridge deny 3f9ac2d1',
  ],
])('an action with %j is decided so: %s', (changes, text) => {
  expect(howToDecideText({ ...action, ...changes })).toBe(text);
});
