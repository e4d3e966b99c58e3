import { expect, it } from '@jest/globals';
import { type SignInFailure, signInError } from '../../../../a2a-server/page/sign-in-failure.ts';

it.each<[SignInFailure, string, RegExp]>([
  [{ type: 'no-attempt' }, 'UNAUTHENTICATED', /longer than ten minutes\. Sign in again\.$/],
  [{ type: 'answered', error: 'access_denied' }, 'UNAUTHENTICATED', /Sign in again, or ask the operator/],
  [
    { type: 'answered', error: 'login_required' },
    'UNAUTHENTICATED',
    /^Your session has ended\. Sign in again/,
  ],
  [{ type: 'answered', error: 'interaction_required' }, 'UNAUTHENTICATED', /^Your session has ended/],
  [{ type: 'answered', error: 'server_error' }, 'OVERLOADED', /Try again in a moment\.$/],
  [{ type: 'answered', error: 'invalid_scope' }, 'FORBIDDEN', /\(invalid_scope\)\. Only the operator/],
  [{ type: 'unverified' }, 'UNAUTHENTICATED', /Sign in again\. If this repeats, tell the operator\.$/],
  [{ type: 'refused', error: 'invalid_grant' }, 'UNAUTHENTICATED', /used up or too old\. Sign in again\.$/],
  [{ type: 'refused', error: 'invalid_client' }, 'CONFIGURATION', /\(invalid_client\)\. Only the operator/],
  [{ type: 'unreachable' }, 'OVERLOADED', /^Okta does not answer\./],
  [{ type: 'busy' }, 'OVERLOADED', /^Too many people sign in .* Try again in a moment\.$/],
  [{ type: 'misconfigured' }, 'CONFIGURATION', /Only the operator can correct this: the log of the server/],
  [{ type: 'no-access' }, 'FORBIDDEN', /give your account no access\. Ask the operator\.$/],
])('after %j, the person reads what to do', (failure, reason, message) => {
  expect(signInError(failure, 'Okta')).toMatchObject({ reason, message: expect.stringMatching(message) });
});

it('X1 an error code that is no plain code is not shown', () => {
  const { message } = signInError({ type: 'answered', error: 'call 555-0199 now' }, 'Okta');
  expect(message).toMatch(/^Okta refuses the sign-in of this server\. /);
});
