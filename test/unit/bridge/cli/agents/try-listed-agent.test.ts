/** Tests which agents of a registry are tried. */
import { expect, it } from '@jest/globals';
import { tryListedAgent } from '../../../../../bridge/cli/agents/registry/try-listed-agent.ts';
import { tryAgent } from '../../../../../bridge/cli/agents/try-agent.ts';
import { readBridgeSettings } from '../../../../../bridge/settings/settings.ts';
import { errorMessageOf } from '../../../../../shared/runtime/errors.ts';
import { hostileAgent } from '../../../../support/fake-agent-hostile.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

async function run() {
  return { settings: await readBridgeSettings({ stateDir: await temporaryDirectory() }, {}), env: {} };
}

it('a registry on another machine causes no request to this machine', async () => {
  let requests = 0;
  const agent = await hostileAgent(
    (_, response) => {
      requests += 1;
      response.writeHead(404).end();
    },
    { card: true },
  );
  const listed = { name: 'a', title: 'a', description: '', url: agent.url };
  expect(await tryListedAgent(await run(), listed, true)).toMatchObject({
    type: 'failed',
    problem: expect.stringContaining('another machine'),
  });
  const { port } = new URL(agent.url);
  const elsewhere = { ...listed, url: 'https://a.invalid', cardUrl: agent.url };
  const otherSpelling = { ...listed, url: `http://0.0.0.0:${port}` };
  for (const hidden of [elsewhere, otherSpelling])
    expect(await tryListedAgent(await run(), hidden, true)).toMatchObject({ type: 'failed' });
  expect(requests).toBe(0);
  expect(await tryListedAgent(await run(), listed, false)).toMatchObject({ type: 'failed' });
  expect(requests).toBeGreaterThan(0);
  await agent.stop();
});

it('an agent elsewhere whose card names an endpoint on this machine gets no request', async () => {
  const agent = await hostileAgent((_, response) => void response.writeHead(404).end());
  const tried = await tryAgent(await run(), { url: agent.url, isElsewhere: true }).catch(errorMessageOf);
  await agent.stop();
  expect(tried).toContain('The card names an endpoint on this machine');
  expect(agent.posts()).toBe(0);
});

it('an agent that the settings have keeps its entry', async () => {
  const { settings, env } = await run();
  const agents = { mine: { url: 'https://a.example', headers: {}, workspaces: {}, tokenEnv: 'MINE' } };
  const listed = { name: 'a', title: 'a', description: '', url: 'https://a.example/' };
  expect(await tryListedAgent({ settings: { ...settings, agents }, env }, listed, true)).toEqual({
    type: 'known',
    name: 'mine',
    url: 'https://a.example/',
  });
});

it('an agent of a registry gets no name under which the bridge already has sessions', async () => {
  const { settings, env } = await run();
  const agent = await hostileAgent((_, response) => void response.writeHead(404).end());
  const named = (name: string) => ({ name, title: name, description: '', url: agent.url });
  // The agent of the setting `agentUrl`, and the user's own server.
  const withUrl = { settings: { ...settings, agentUrl: 'https://mine.example' }, env };
  const asUrlAgent = await tryListedAgent(withUrl, named('agent'), false);
  const asOwnServer = await tryListedAgent({ settings, env }, named('local'), false);
  await agent.stop();
  const taken = { type: 'failed', problem: expect.stringContaining('Choose another name') };
  expect([asUrlAgent, asOwnServer]).toEqual([expect.objectContaining(taken), expect.objectContaining(taken)]);
});
