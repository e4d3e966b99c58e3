/**
 * Signs a person in with the OpenID Connect provider: the authorization code flow with PKCE (OpenID Connect Core 1.0
 * §3.1, RFC 7636). `openid-client` makes the requests and checks the answers (state, nonce, `iss` of RFC 9207). The
 * server loads this library at the first sign-in.
 */
import type { JWTPayload } from 'jose';
import type * as OpenId from 'openid-client';
import type { Clock } from '../../shared/runtime/clock.ts';
import { createCachedRead } from '../runtime/cached-read.ts';
import { errorMessageOf, ProductError, errorCode } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import { readClientSecret } from '../access/client-secret.ts';
import type { Identity } from '../access/identity.ts';
import {
  PROVIDER_COOLDOWN_MS,
  PROVIDER_TIMEOUT_MS,
  type OidcProviderConfiguration,
  fetchOpenIdProvider,
} from '../access/oidc-provider.ts';
import {
  accessOfClaims,
  type OidcSettings,
  providerName,
  requestedScopes,
  type SignInSettings,
} from '../access/oidc-settings.ts';
import { createClaimsVerifier } from '../access/oidc-tokens.ts';
import type { ProviderSignInAttempt } from './provider-sign-in-attempt.ts';
import { type SignInFailure, signInError } from './sign-in-failure.ts';

const MAX_CONFIGURATION_AGE_MS = 10 * 60_000;

/**
 * The maximum age of the client secret in the cache. The secret may be the output of a command, and anybody can request
 * the exchange of a code. Without the cache, each such request would run the command.
 */
const MAX_SECRET_AGE_MS = 60_000;
const SECRET_COOLDOWN_MS = 10_000;

/** The maximum number of code exchanges at one time. Anybody can request an exchange, and the provider may be slow. */
export const MAX_CODE_EXCHANGES = 20;

export interface ProviderSignIn {
  /** The name of the provider for a person. */
  name: string;
  /** The address of the page, to which the provider sends the browser back. */
  redirectUri: string;
  /**
   * Returns the address of the provider that signs the person in.
   * @param silent true if the provider must not ask the person anything
   * @throws ProductError OVERLOADED if the provider does not answer; CONFIGURATION
   */
  address(attempt: ProviderSignInAttempt, silent: boolean): Promise<string>;
  /**
   * Exchanges the answer of the provider for the person's identity.
   * @param query the query that the provider added to the redirect URI
   * @throws ProductError with the reason for the person
   */
  identity(attempt: ProviderSignInAttempt, query: string): Promise<Identity>;
}

interface ProviderSignInParts {
  settings: OidcSettings;
  signIn: SignInSettings;
  /** The server's URL for browsers, without a final slash. */
  base: string;
  env: Environment;
  clock: Pick<Clock, 'now' | 'elapsed'>;
  log: Pick<Logger, 'info' | 'warn'>;
}

/**
 * Returns the address of the page as browsers write it. A provider compares it character by character (RFC 9700 §2.1).
 */
export function redirectUriOf(publicUrl: string): string {
  return new URL(`${publicUrl.replace(/\/+$/, '')}/page`).href;
}

export function createProviderSignIn({
  settings,
  signIn,
  base,
  env,
  clock,
  log,
}: ProviderSignInParts): ProviderSignIn {
  const name = providerName(settings);
  const redirectUri = redirectUriOf(base);
  const configuration = createCachedRead(() => fetchOpenIdProvider(settings.issuer), {
    clock,
    cooldownMs: PROVIDER_COOLDOWN_MS,
    maxAgeMs: MAX_CONFIGURATION_AGE_MS,
  });
  const failed = (failure: SignInFailure, reason: string): ProductError => {
    const problem = signInError(failure, name);
    const level = problem.reason === 'CONFIGURATION' ? 'warn' : 'info';
    log[level]({ reason }, 'a sign-in with the OpenID Connect provider failed');
    return problem;
  };
  const verifiedClaims = createClaimsVerifier({
    // The audience of an ID token is the client (OpenID Connect Core 1.0 §2).
    settings: { ...settings, audience: signIn.clientId },
    clock,
    onRefusal: (reason) => log.info({ reason }, 'an ID token of the OpenID Connect provider is refused'),
  });
  const { clientSecret: source } = signIn;
  const clientSecret =
    source &&
    createCachedRead(() => readClientSecret(source, env), {
      clock,
      cooldownMs: SECRET_COOLDOWN_MS,
      maxAgeMs: MAX_SECRET_AGE_MS,
    });
  const readConfiguration = (): Promise<OidcProviderConfiguration> =>
    configuration().catch((error: unknown) => {
      const insecure = error instanceof ProductError && error.reason === 'CONFIGURATION';
      throw failed({ type: insecure ? 'misconfigured' : 'unreachable' }, reasonOf(error));
    });
  const clientOf = (
    { ClientSecretBasic, ClientSecretPost, Configuration, None, ...openid }: typeof OpenId,
    provider: OidcProviderConfiguration,
    secret?: string,
  ): OpenId.Configuration => {
    const { scopes_supported: _, ...server } = provider;
    const withSecret =
      signIn.clientAuthentication === 'client_secret_basic' ? ClientSecretBasic : ClientSecretPost;
    const client = new Configuration(
      server,
      signIn.clientId,
      {
        [openid.clockTolerance]: settings.clockSkew,
        // The library reads the clock of this machine, but servers that share a database use the time of the database.
        // So the library must add the difference.
        [openid.clockSkew]: (clock.now() - Date.now()) / 1_000,
      },
      secret === undefined ? None() : withSecret(secret),
    );
    client.timeout = PROVIDER_TIMEOUT_MS / 1_000;
    // The settings allow http on a loopback address only.
    if (new URL(settings.issuer).protocol === 'http:') openid.allowInsecureRequests(client);
    return client;
  };
  let exchanges = 0;

  const claimsOf = async (attempt: ProviderSignInAttempt, query: string): Promise<JWTPayload> => {
    const openid = await import('openid-client');
    const provider = await readConfiguration();
    const secret = await clientSecret?.().catch((error: unknown) => {
      throw failed({ type: 'misconfigured' }, errorMessageOf(error));
    });
    const answer = new URL(redirectUri);
    answer.search = query;
    const client = clientOf(openid, provider, secret);
    const { id_token: idToken } = await openid
      .authorizationCodeGrant(client, answer, {
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        pkceCodeVerifier: attempt.verifier,
        idTokenExpected: true,
      })
      .catch((error: unknown) => {
        throw failed(failureOf(error, openid), reasonOf(error));
      });
    return verifiedClaims(idToken ?? '').catch((error: unknown) => {
      const away = error instanceof ProductError && error.reason === 'OVERLOADED';
      throw failed({ type: away ? 'unreachable' : 'unverified' }, errorMessageOf(error));
    });
  };

  return {
    name,
    redirectUri,
    async address({ state, nonce, verifier }, silent) {
      const openid = await import('openid-client');
      const provider = await readConfiguration();
      const parameters = {
        redirect_uri: redirectUri,
        scope: requestedScopes(settings, provider.scopes_supported).join(' '),
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(silent && { prompt: 'none' }),
      };
      try {
        const client = clientOf(openid, provider);
        return openid.buildAuthorizationUrl(client, parameters).href;
      } catch (error) {
        throw failed({ type: 'misconfigured' }, reasonOf(error));
      }
    },
    async identity(attempt, query) {
      if (exchanges >= MAX_CODE_EXCHANGES) throw failed({ type: 'busy' }, 'too many sign-ins at one time');
      exchanges++;
      const claims = await claimsOf(attempt, query).finally(() => exchanges--);
      const access = accessOfClaims(claims, settings);
      if (access === undefined) throw failed({ type: 'no-access' }, 'the claims give no access');
      log.info({ principal: access.principal }, 'a person signed in with the OpenID Connect provider');
      return { ...access, expiresAt: clock.now() + signIn.sessionMinutes * 60_000 };
    },
  };
}

function failureOf(error: unknown, openid: typeof OpenId): SignInFailure {
  if (error instanceof openid.AuthorizationResponseError) return { type: 'answered', error: error.error };
  if (error instanceof openid.ResponseBodyError) return { type: 'refused', error: error.error };
  if (error instanceof openid.WWWAuthenticateChallengeError)
    return { type: 'refused', error: 'invalid_client' };
  const code = errorCode(error) ?? '';
  if (WRONG_CONFIGURATION.has(code)) return { type: 'misconfigured' };
  return error instanceof openid.ClientError && !UNREACHABLE.has(code)
    ? { type: 'unverified' }
    : { type: 'unreachable' };
}

/** The codes of `openid-client` for a provider whose configuration has no usable address of the token endpoint. */
const WRONG_CONFIGURATION: ReadonlySet<string> = new Set([
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
  'OAUTH_REQUEST_PROTOCOL_FORBIDDEN',
]);

/** The codes of `openid-client` for a provider that does not answer, or answers with an HTTP error. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
]);

/** Returns the reason for the log. The causes of these errors contain codes and tokens, so only messages are used. */
function reasonOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  const code = error instanceof Error && 'error' in error ? ` (${String(error.error).slice(0, 60)})` : '';
  return `${errorMessageOf(error)}${code}${cause instanceof Error ? `: ${cause.message}` : ''}`;
}
