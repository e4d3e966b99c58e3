import { expect, it } from '@jest/globals';
import { createCredentialFingerprints } from '../../../../a2a-server/access/credential-fingerprints.ts';
import { oidcSchema } from '../../../../a2a-server/access/oidc-settings.ts';

const provider = (audience: string) =>
  oidcSchema.parse({
    issuer: 'https://id.example',
    audience,
    tenant: 'acme',
    roles: [{ claim: 'groups', value: 'staff', roles: ['read'] }],
  });

const fingerprintsOf = (tokens: readonly string[], audience?: string) => {
  const fingerprintOf = createCredentialFingerprints({
    credentials: tokens.map((token) => ({ principal: 'ann', token })),
    provider: audience === undefined ? undefined : provider(audience),
    purpose: 'test',
  });
  return (principal: string, provided = false) => fingerprintOf({ principal, provided });
};

it('X1 a fingerprint changes with each token of the principal, and contains no token', () => {
  const fingerprint = fingerprintsOf(['secret-one'])('ann');
  expect(fingerprint).toBe(fingerprintsOf(['secret-one'])('ann'));
  expect(fingerprint).not.toContain('secret-one');
  expect(
    new Set([
      fingerprint,
      fingerprintsOf(['secret-two'])('ann'),
      fingerprintsOf(['secret-one', 'secret-two'])('ann'),
    ]).size,
  ).toBe(3);
  expect(fingerprintsOf(['secret-one'])('bob')).toBeUndefined();
});

it('X1 a fingerprint of the provider changes with its settings', () => {
  const fingerprint = fingerprintsOf(['secret-one'], 'first')('ann', true);
  expect(fingerprint).toBe(fingerprintsOf([], 'first')('bob', true));
  expect(fingerprint).not.toBe(fingerprintsOf([], 'second')('ann', true));
  expect(fingerprintsOf(['secret-one'])('ann', true)).toBeUndefined();
});
