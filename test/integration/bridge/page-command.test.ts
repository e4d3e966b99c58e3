/** Tests the command `mcp-a2a-bridge page` at a terminal. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { pageCommand } from '../../../bridge/cli/commands/page.ts';
import { readBridgeSettings } from '../../../bridge/settings/settings.ts';
import { createLogger } from '../../../shared/runtime/logging.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import { stage } from '../../support/stage.ts';

function unused(): never {
  throw new Error('the command asks nothing');
}

test('the command prints a link that signs a person in to the page', async () => {
  const { server } = await stage();
  const said: unknown[] = [];
  await pageCommand({
    options: {},
    settings: await readBridgeSettings({ stateDir: server.stateDir }, {}),
    places: { bridgeScript: '/unused', serverScript: '/no/server/is/started', cardFile: '/unused' },
    terminal: fakeTerminal({
      interactive: true,
      json: (link) => void said.push(link),
      confirm: unused,
      ask: unused,
    }),
    env: {},
    log: createLogger({ name: 'test', level: 'silent' }),
    openSessions: unused,
  });
  const link = z.strictObject({ url: z.string(), expiresAt: z.iso.datetime() });
  const { url } = link.parse(said[0]);
  const { origin, hash } = new URL(url);
  expect(origin).toBe(server.url);
  const answer = await fetch(`${origin}/page/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ code: new URLSearchParams(hash.slice(1)).get('code') }),
  });
  expect(answer.status).toBe(200);
});
