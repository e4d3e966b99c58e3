import { expect, test } from '@jest/globals';
import { createAuditLog } from '../../../../a2a-server/audit/audit-log.ts';
import { printAudit } from '../../../../a2a-server/startup/commands/audit-command.ts';
import { withRecords } from '../../../../a2a-server/startup/commands/with-records.ts';
import { createToken, revokeToken } from '../../../../a2a-server/startup/commands/token-commands.ts';
import { memoryRecords } from '../../../support/memory-records.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const revoked = (tokenId: string) => ({ act: 'token.revoked', tokenId, principal: 'ann' }) as const;

async function printed(stateDir: string, json = true): Promise<string[]> {
  const lines: string[] = [];
  const add = (line: string): void => void lines.push(line);
  await printAudit({ stateDir, database: undefined }, json, {
    say: add,
    sayJson: (value) => add(JSON.stringify(value)),
    note: add,
  });
  return lines;
}

test('records have the order of their times, and concurrent records are all kept', async () => {
  const stored = memoryRecords();
  const ids = Array.from({ length: 40 }, (_, index) => `token-${index}`);
  await Promise.all(ids.map((id, index) => createAuditLog(stored).append(revoked(id), 1_000 - index)));
  const { records, damaged } = await createAuditLog(stored).read();
  expect(damaged).toBe(0);
  expect(records).toMatchObject(ids.toReversed().map((tokenId) => ({ tokenId })));
});

test('each record names its machine, and a configuration is compared with the one before on the same machine', async () => {
  const stored = memoryRecords();
  const start = (host: string, now: number, fourEyes: boolean): Promise<void> =>
    createAuditLog(stored, host).append(
      { act: 'server.started', version: '1.0.0', configuration: { mode: 'ask', fourEyes } },
      now,
    );
  await start('one', 1, true);
  // A new machine has no configuration of its own before.
  await start('two', 2, false);
  await start('one', 3, true);
  await start('two', 4, true);
  const { records } = await createAuditLog(stored).read();
  expect(records).toMatchObject([
    { host: 'one' },
    { host: 'two', changed: ['fourEyes'] },
    { host: 'one', changed: [] },
    { host: 'two', changed: ['fourEyes'] },
  ]);
});

test('a record of an earlier version names no machine', async () => {
  const stateDir = await temporaryDirectory();
  await withRecords({ stateDir, database: undefined }, async (stored) => {
    await stored.create(
      'audit',
      'a',
      JSON.stringify({ at: '2026-01-01T00:00:00Z', user: 'root', ...revoked('a') }),
    );
    await createAuditLog(stored, 'one').append(revoked('b'), 1);
  });
  expect((await printed(stateDir, false)).map((line) => line.split('  ').at(-1))).toEqual([
    expect.stringMatching(/^by .+ on one$/),
    'by root',
  ]);
});

test('a damaged record is counted and left out', async () => {
  const stored = memoryRecords();
  await createAuditLog(stored).append(revoked('a'), 0);
  await stored.create('audit', 'damaged', '{"at":');
  expect(await createAuditLog(stored).read()).toMatchObject({ records: [{ tokenId: 'a' }], damaged: 1 });
});

test('the creation and the first revocation of a token are recorded, without its secret', async () => {
  const stateDir = await temporaryDirectory();
  const place = { stateDir, database: undefined };
  let secret = '';
  const output = {
    say: (text: string) => void (secret ||= text),
    sayJson: () => undefined,
    note: () => undefined,
  };
  await createToken(place, { name: 'ann', tenant: 'acme', role: ['approve'], expires: 'never' }, output);
  const id = secret.split('_')[1] ?? '';
  await revokeToken(place, id, output);
  await revokeToken(place, id, output);
  const lines = await printed(stateDir);
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { act: 'token.created', tokenId: id, principal: 'acme/ann', roles: ['approve'], expiresAt: null },
    { act: 'token.revoked', tokenId: id, principal: 'acme/ann' },
  ]);
  const stored = await withRecords(place, (records) => records.list('audit'));
  expect([...stored.values()].join()).not.toContain(secret.slice(17));
  expect((await printed(stateDir, false))[0]).toMatch(/token\.created .*principal=acme\/ann/);
});

test('a state directory without acts prints a note', async () => {
  expect(await printed(await temporaryDirectory(), false)).toEqual(['There are no administrative actions.']);
});
