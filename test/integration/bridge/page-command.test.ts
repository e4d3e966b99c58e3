/** Tests the command `mcp-a2a-bridge page` at a terminal. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { pageCommand } from '../../../bridge/cli/commands/page.ts';
import { readBridgeSettings } from '../../../bridge/settings/settings.ts';
import { paintNothing } from '../../../bridge/cli/terminal/paint.ts';
import { createLogger } from '../../../shared/runtime/logging.ts';
import { stage } from '../../support/stage.ts';

function unused(): never {
  throw new Error('the command asks nothing');
}

test('the command prints a link that signs a person in to the page', async () => {
  const { server } = await stage();
  const said: string[] = [];
  await pageCommand({
    options: { json: true },
    settings: await readBridgeSettings({ stateDir: server.stateDir }, {}),
    places: { bridgeScript: '/unused', serverScript: '/no/server/is/started', cardFile: '/unused' },
    terminal: {
      paint: paintNothing,
      width: 80,
      pagerWidth: 80,
      interactive: true,
      say: (text) => void said.push(text),
      write: unused,
      explain: unused,
      complain: unused,
      confirm: unused,
      ask: unused,
    },
    env: {},
    log: createLogger({ name: 'test', level: 'silent' }),
  });
  const link = z.strictObject({ url: z.string(), expiresAt: z.iso.datetime() });
  const { url } = link.parse(JSON.parse(said.join('')));
  const { origin, hash } = new URL(url);
  expect(origin).toBe(server.url);
  const answer = await fetch(`${origin}/page/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ code: new URLSearchParams(hash.slice(1)).get('code') }),
  });
  expect(answer.status).toBe(200);
});
