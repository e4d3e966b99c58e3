import { expect, it } from '@jest/globals';
import { createCredentialMarks } from '../../../../a2a-server/access/credential-marks.ts';
import { oidcSchema } from '../../../../a2a-server/access/oidc-settings.ts';

const provider = (audience: string) =>
  oidcSchema.parse({
    issuer: 'https://id.example',
    audience,
    tenant: 'acme',
    roles: [{ claim: 'groups', value: 'staff', roles: ['read'] }],
  });

const marksOf = (tokens: readonly string[], audience?: string) => {
  const markOf = createCredentialMarks({
    credentials: tokens.map((token) => ({ principal: 'ann', token })),
    provider: audience === undefined ? undefined : provider(audience),
    purpose: 'test',
  });
  return (principal: string, provided = false) => markOf({ principal, provided });
};

it('X1 a mark changes with each token of the principal, and contains no token', () => {
  const mark = marksOf(['secret-one'])('ann');
  expect(mark).toBe(marksOf(['secret-one'])('ann'));
  expect(mark).not.toContain('secret-one');
  expect(
    new Set([mark, marksOf(['secret-two'])('ann'), marksOf(['secret-one', 'secret-two'])('ann')]).size,
  ).toBe(3);
  expect(marksOf(['secret-one'])('bob')).toBeUndefined();
});

it('X1 a mark of the provider changes with its settings', () => {
  const mark = marksOf(['secret-one'], 'first')('ann', true);
  expect(mark).toBe(marksOf([], 'first')('bob', true));
  expect(mark).not.toBe(marksOf([], 'second')('ann', true));
  expect(marksOf(['secret-one'])('ann', true)).toBeUndefined();
});
