/** Says in plain words why a sign-in with the OpenID Connect provider failed, and what to do. Pure. */
import { ProductError } from '../../shared/runtime/errors.ts';

export type SignInFailure =
  /** The browser has no attempt that belongs to the provider's answer, or the attempt has ended. */
  | { type: 'no-attempt' }
  /** The provider answered with an error (RFC 6749 §4.1.2.1, OpenID Connect Core 1.0 §3.1.2.6). */
  | { type: 'answered'; error: string }
  /** The answer or the ID token does not have the expected state, issuer or nonce, or is not valid. */
  | { type: 'unverified' }
  /** The token endpoint refused the code or the client (RFC 6749 §5.2). */
  | { type: 'refused'; error: string }
  | { type: 'unreachable' }
  | { type: 'busy' }
  /** The secret of the client cannot be read, or the configuration of the provider has no usable address. */
  | { type: 'misconfigured' }
  /** No rule of the settings gives access to a user with these claims. */
  | { type: 'no-access' };

/** The errors of a silent sign-in that needs an action of the person. */
const NEEDS_PERSON = new Set([
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
]);

/** An error code may have been written by another site, so only short plain codes are shown. */
const PLAIN_CODE = /^[a-z_]{1,40}$/;

/** @param provider the name of the provider for a person */
export function signInError(failure: SignInFailure, provider: string): ProductError {
  switch (failure.type) {
    case 'no-attempt':
      return new ProductError(
        'UNAUTHENTICATED',
        'This sign-in did not begin in this browser, or it took longer than ten minutes. Sign in again.',
      );
    case 'answered':
      return providerAnswerError(failure.error, provider);
    case 'unverified':
      return new ProductError(
        'UNAUTHENTICATED',
        `The answer of ${provider} does not belong to this sign-in, so this server does not accept it. Sign in again. If this repeats, tell the operator.`,
      );
    case 'refused':
      return failure.error === 'invalid_grant'
        ? new ProductError(
            'UNAUTHENTICATED',
            `${provider} says that this sign-in is used up or too old. Sign in again.`,
          )
        : operatorNeeded('CONFIGURATION', failure.error, provider);
    case 'unreachable':
      return new ProductError('OVERLOADED', `${provider} does not answer. Try again in a moment.`);
    case 'busy':
      return new ProductError('OVERLOADED', 'Too many people sign in at this moment. Try again in a moment.');
    case 'misconfigured':
      return new ProductError(
        'CONFIGURATION',
        `The sign-in with ${provider} is not configured correctly. Only the operator can correct this: the log of the server has the reason.`,
      );
    case 'no-access':
      return new ProductError(
        'FORBIDDEN',
        `You signed in at ${provider}, but the rules of this server give your account no access. Ask the operator.`,
      );
  }
}

function providerAnswerError(error: string, provider: string): ProductError {
  if (NEEDS_PERSON.has(error))
    return new ProductError('UNAUTHENTICATED', `Your session has ended. Sign in again at ${provider}.`);
  if (error === 'access_denied')
    return new ProductError(
      'UNAUTHENTICATED',
      `${provider} did not let you in, or you stopped there. Sign in again, or ask the operator whether your account may use this server.`,
    );
  if (error === 'temporarily_unavailable' || error === 'server_error')
    return signInError({ type: 'unreachable' }, provider);
  // Anybody can send this text to the server. So the reason is FORBIDDEN, and not an error of the server (HTTP 500).
  return operatorNeeded('FORBIDDEN', error, provider);
}

function operatorNeeded(
  reason: 'CONFIGURATION' | 'FORBIDDEN',
  error: string,
  provider: string,
): ProductError {
  const code = PLAIN_CODE.test(error) ? ` (${error})` : '';
  return new ProductError(
    reason,
    `${provider} refuses the sign-in of this server${code}. Only the operator can correct this: the client, its redirect URI, secret or scopes.`,
  );
}
