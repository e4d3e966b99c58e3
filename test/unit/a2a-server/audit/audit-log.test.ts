import { expect, test } from '@jest/globals';
import { createAuditLog } from '../../../../a2a-server/audit/audit-log.ts';
import { printAudit } from '../../../../a2a-server/startup/commands/audit-command.ts';
import { openRecordStoreForCommand } from '../../../../a2a-server/startup/commands/open-records-for-command.ts';
import { createToken, revokeToken } from '../../../../a2a-server/startup/commands/token-commands.ts';
import { memoryRecords } from '../../../support/memory-records.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const revoked = (tokenId: string) => ({ act: 'token.revoked', tokenId, principal: 'ann' }) as const;

async function printed(stateDir: string, json = true): Promise<string[]> {
  const lines: string[] = [];
  const add = (line: string): void => void lines.push(line);
  await printAudit({ stateDir, database: undefined }, json, { say: add, note: add });
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
  const output = { say: (text: string) => void (secret ||= text), note: () => undefined };
  await createToken(place, { name: 'ann', tenant: 'acme', role: ['approve'], expires: 'never' }, output);
  const id = secret.split('_')[1] ?? '';
  await revokeToken(place, id, output);
  await revokeToken(place, id, output);
  const lines = await printed(stateDir);
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { act: 'token.created', tokenId: id, principal: 'acme/ann', roles: ['approve'], expiresAt: null },
    { act: 'token.revoked', tokenId: id, principal: 'acme/ann' },
  ]);
  const stored = await openRecordStoreForCommand(place);
  expect([...(await stored.list('audit')).values()].join()).not.toContain(secret.slice(17));
  expect((await printed(stateDir, false))[0]).toMatch(/token\.created .*principal=acme\/ann/);
});

test('a state directory without acts prints a note', async () => {
  expect(await printed(await temporaryDirectory(), false)).toEqual(['There are no administrative actions.']);
});
