/** Tests what `install` and `doctor` say about an entry that a person has changed. */
import { expect, it } from '@jest/globals';
import { bridgeEntryWarnings } from '../../../../../bridge/cli/clients/bridge-entries.ts';
import type { McpClientProgram } from '../../../../../bridge/cli/clients/client.ts';
import { CLIENTS, isClientName } from '../../../../../bridge/cli/clients/clients.ts';

const client = (name: string): McpClientProgram => {
  if (!isClientName(name)) throw new Error(name);
  return CLIENTS[name];
};

it.each(Object.keys(CLIENTS))('the entry that install writes for %s is no hazard', (name) => {
  const written = client(name);
  expect(
    bridgeEntryWarnings(written, { ...written.entry({ command: 'node', args: [] }), ...written.defaults }),
  ).toEqual([]);
});

it.each([
  ['codex', { tool_timeout_sec: 60 }, ['60 s']],
  ['codex', {}, ['60 s']],
  ['codex', { tool_timeout_sec: 601 }, []],
  ['codex', { tool_timeout_sec: '60' }, []],
  ['gemini', { timeout: 600_000 }, ['600 s']],
  ['gemini', { timeout: 600_001, trust: false }, []],
  ['gemini', { trust: true }, ['without asking you']],
  ['gemini', { timeout: 1000, trust: true }, ['1 s', 'without asking you']],
  ['claude', { timeout: 60_000 }, ['60 s']],
  ['claude', {}, []],
  ['vscode', { timeout: 1 }, []],
])('%s with %j: hazards %j', (name, entry, hazards) => {
  expect(bridgeEntryWarnings(client(name), entry)).toEqual(
    hazards.map((part) => expect.stringContaining(part)),
  );
});
