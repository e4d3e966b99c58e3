import { expect, it } from '@jest/globals';
import { writeAgents } from '../../../../../bridge/cli/agents/write-agents.ts';
import { readBridgeSettings } from '../../../../../bridge/settings/settings.ts';
import { fakeTerminal } from '../../../../support/fake-terminal.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

it('the sentences after a change are explained, so a terminal does not split a word', async () => {
  const said: string[] = [];
  const explained: string[] = [];
  const code = await writeAgents(
    {
      options: {},
      settings: await readBridgeSettings({ stateDir: await temporaryDirectory() }, {}),
      terminal: fakeTerminal({
        say: (text) => void said.push(text),
        explain: (text) => void explained.push(text),
      }),
    },
    { facts: {}, decide: () => ({ type: 'changed', text: '{}' }), after: 'Its tasks go on.' },
  );
  expect(code).toBe(0);
  expect(said.join()).toContain('+{}');
  expect(explained.join()).toMatch(/^Written to .* Its tasks go on\. Restart the MCP clients/);
});
