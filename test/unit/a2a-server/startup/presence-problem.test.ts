import { describe, expect, it } from '@jest/globals';
import { presencePolicyProblem } from '../../../../a2a-server/startup/settings/server-policy.ts';
import { policyOf } from '../../../support/judged-calls.ts';

describe('the check of rules that demand presence', () => {
  const demanding = policyOf({ action: 'presence', path: 'a' });

  it('a server at an address without a domain has a problem if a rule demands presence', () => {
    expect(presencePolicyProblem(demanding, 'http://192.168.1.5:4100')).toMatch(
      /no person can approve.*--public-url/,
    );
    expect(
      presencePolicyProblem(policyOf({ action: 'ask', path: 'a' }), 'http://192.168.1.5:4100'),
    ).toBeUndefined();
  });

  it.each(['http://127.0.0.1:4100', 'https://agents.example.com'])(
    'a server at %s has no problem',
    (base) => {
      expect(presencePolicyProblem(demanding, base)).toBeUndefined();
    },
  );
});
