import { expect, test } from '@jest/globals';
import { makeToken } from '../../../../a2a-server/access/issued-token.ts';
import type { Role } from '../../../../a2a-server/access/role.ts';
import { readServerSettings } from '../../../../a2a-server/startup/settings/read-settings.ts';
import { groupsWithoutMembers } from '../../../../a2a-server/startup/settings/server-policy.ts';

const NOW = 1_000_000;
const token = (groups: string[], { roles = ['approve'] as Role[], lifetimeMs = 1_000 } = {}) =>
  makeToken({ principal: 'ann', roles, groups, lifetimeMs }, NOW).token;

const policy = ['release', 'release', 'docs'].map((group, index) => ({
  action: 'ask' as const,
  path: [`${String(index)}.txt`],
  approver: { group },
}));

test('the check names each group that a rule demands and no active token of an approver has', async () => {
  const { oidc } = await readServerSettings({}, {});
  const missing = (tokens: ReturnType<typeof token>[], now = NOW): string[] =>
    groupsWithoutMembers({ policy, oidc }, tokens, now);
  expect(missing([])).toEqual(['release', 'docs']);
  expect(missing([token(['release']), token(['docs'])])).toEqual([]);
  expect(missing([token(['release', 'docs'], { roles: ['delegate'] })])).toEqual(['release', 'docs']);
  expect(missing([token(['release', 'docs'])], NOW + 1_000)).toEqual(['release', 'docs']);
});

test('a rule for the claims of a provider can give the group', () => {
  const oidc = {
    issuer: 'https://login.example.com',
    audience: 'a',
    algorithms: ['RS256' as const],
    clockSkew: 5,
    principalClaim: 'sub',
    tenant: 'acme',
    roles: [],
    groups: [{ claim: 'groups', value: 'r', groups: ['release'] }],
  };
  expect(groupsWithoutMembers({ policy, oidc }, [], NOW)).toEqual(['docs']);
});
