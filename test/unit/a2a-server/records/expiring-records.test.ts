import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { createExpiringRecords } from '../../../../a2a-server/records/expiring-records.ts';
import { memoryRecords } from '../../../support/memory-records.ts';

const schema = z.strictObject({ principal: z.string(), expiresAt: z.number() });

it('a new record removes the expired records, also those of another form, and the damaged ones', async () => {
  const records = memoryRecords();
  const stored = {
    valid: JSON.stringify({ principal: 'ada', expiresAt: 2_000 }),
    expired: JSON.stringify({ principal: 'ada', expiresAt: 1_000 }),
    'other-form': JSON.stringify({ principal: 'ada', expiresAt: 2_000, added: true }),
    'expired-other-form': JSON.stringify({ principal: 'ada', expiresAt: 1_000, added: true }),
    damaged: '{"principal":',
  };
  for (const [name, text] of Object.entries(stored)) await records.replace('page-sessions', name, text);
  const expiring = createExpiringRecords(records, 'page-sessions', { schema, now: () => 1_000 });
  await expiring.add('new', { principal: 'bob', expiresAt: 3_000 });
  const left = await records.list('page-sessions');
  // A server of another version may still use the record of another form. So a person can also sign it out.
  expect([...left.keys()].toSorted()).toEqual(['new', 'other-form', 'valid']);
  expect((await expiring.ofPrincipal('ada')).toSorted()).toEqual(['other-form', 'valid']);
  await expect(expiring.read('other-form')).resolves.toBeUndefined();
});
