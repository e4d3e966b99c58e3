import { expect, it } from '@jest/globals';
import { accessOfClaims, oidcSchema } from '../../../../a2a-server/access/oidc-settings.ts';

const settings = oidcSchema.unwrap().parse({
  issuer: 'https://id.example',
  audience: 'bridge',
  principalClaim: 'email',
  tenant: 'acme',
  roles: [
    { claim: 'groups', value: 'staff', roles: ['read'] },
    { claim: 'email', value: 'ann@acme.example', roles: ['approve'] },
  ],
});
const claims = { email: 'ann@acme.example', groups: ['staff'] };

it('X1 an address that the provider has not verified gives neither a name nor a role', () => {
  expect(accessOfClaims(claims, settings)).toMatchObject({ principal: 'acme/ann@acme.example' });
  expect(accessOfClaims({ ...claims, email_verified: true }, settings)?.roles).toEqual(['read', 'approve']);
  const bySub = { ...settings, principalClaim: 'sub' };
  for (const email_verified of [false, 'false']) {
    expect(accessOfClaims({ ...claims, email_verified }, settings)).toBeUndefined();
    expect(accessOfClaims({ ...claims, sub: 'ann', email_verified }, bySub)?.roles).toEqual(['read']);
  }
});
