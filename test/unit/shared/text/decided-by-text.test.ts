import { expect, test } from '@jest/globals';
import { byText, decidedByText } from '../../../../shared/text/decided-by-text.ts';

test.each([
  [{ decision: 'approve', by: 'local', channel: 'cli' }, 'approved by the local user on the command line'],
  [{ decision: 'edit', by: 'ada', channel: 'page' }, 'edited and approved by ada on an approval page'],
  [
    { decision: 'constructor', by: 'a\u202eb', channel: 'tool' },
    'constructor by a\\u{202e}b in a tool call of the MCP client',
  ],
])('%j is "%s"', (decision, text) => expect(decidedByText(decision)).toBe(text));

test('a name of thousands of characters is cut', () => {
  expect(byText({ by: 'a'.repeat(10_000), channel: 'page' }).length).toBeLessThan(200);
});
