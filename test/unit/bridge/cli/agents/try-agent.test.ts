import { expect, it } from '@jest/globals';
import { tryAgent } from '../../../../../bridge/cli/agents/try-agent.ts';
import { readBridgeSettings } from '../../../../../bridge/settings/settings.ts';
import { hostileAgent } from '../../../../support/fake-agent-hostile.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

it('a new agent gets no name under which the bridge already has sessions', async () => {
  const settings = await readBridgeSettings({ stateDir: await temporaryDirectory() }, {});
  const agent = await hostileAgent((_, response) => void response.writeHead(404).end());
  // The agent of the setting `agentUrl`, and the user's own server.
  const withUrl = { ...settings, agentUrl: 'https://mine.example' };
  const asUrlAgent = tryAgent({ settings: withUrl, env: {} }, { url: agent.url, name: 'agent' });
  await expect(asUrlAgent).rejects.toThrow('Choose another name');
  const asOwnServer = tryAgent({ settings, env: {} }, { url: agent.url, name: 'local' });
  await expect(asOwnServer).rejects.toThrow('Choose another name');
  await agent.stop();
});
