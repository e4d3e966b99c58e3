import { describe, expect, test } from '@jest/globals';
import {
  fullPrincipalName,
  IDENTITY_NAME_PATTERN,
  visibleTasksFilter,
  maySeeTasksOf,
  createRequester,
  requireOwnerOrRole,
  tenantOf,
} from '../../../../a2a-server/access/requester.ts';
import { ROLES } from '../../../../a2a-server/access/role.ts';

describe('a requester', () => {
  test('X1 reaches the tasks of its tenant, and of no other', () => {
    const bob = createRequester('acme/bob', ['read']);
    const owners = ['acme/bob', 'acme/ann', 'acme', 'bob', 'beta/bob', 'acme2/ann', 'x/acme/ann'];
    expect(owners.filter((owner) => maySeeTasksOf(bob, owner))).toEqual(['acme/bob', 'acme/ann']);
    expect(visibleTasksFilter(bob)).toEqual({ principal: 'acme/bob', tenant: 'acme' });
  });

  test('X1 without a tenant, or with the role delegate alone, reaches only its own tasks', () => {
    for (const requester of [createRequester('acme', ROLES), createRequester('acme/ci', ['delegate'])]) {
      expect(visibleTasksFilter(requester)).toEqual({ principal: requester.principal });
      expect(maySeeTasksOf(requester, requester.principal)).toBe(true);
      expect(maySeeTasksOf(requester, 'acme/ann')).toBe(false);
    }
  });

  test('needs a role only for the tasks of others', () => {
    const bob = createRequester('acme/bob', ['delegate', 'approve']);
    expect(() => requireOwnerOrRole(bob, 'acme/bob', 'operate')).not.toThrow();
    expect(() => requireOwnerOrRole(bob, 'acme/ann', 'approve')).not.toThrow();
    expect(() => requireOwnerOrRole(bob, 'acme/ann', 'operate')).toThrow('needs the role operate');
  });

  test('X1 no name of a principal contains a tenant', () => {
    expect(IDENTITY_NAME_PATTERN.test('acme/ann')).toBe(false);
    expect(tenantOf(fullPrincipalName('ann', 'acme'))).toBe('acme');
    expect(tenantOf(fullPrincipalName('ann', undefined))).toBeUndefined();
  });
});
