/**
 * Signs a person in with the OpenID Connect provider: the authorization code flow with PKCE (OpenID Connect Core 1.0 §3.1,
 * RFC 7636). `openid-client` makes the requests and checks the answers (state, nonce, `iss` of RFC 9207). It loads at the
 * first sign-in.
 */
import type * as OpenId from 'openid-client';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { readClientSecret } from '../access/client-secret.ts';
import type { Identity } from '../access/identity.ts';
import {
  PROVIDER_COOLDOWN_MS,
  PROVIDER_TIMEOUT_MS,
  type ProviderConfiguration,
  readProvider,
  rememberedReading,
} from '../access/oidc-provider.ts';
import {
  accessOfClaims,
  type OidcSettings,
  providerName,
  requestedScopes,
  type SignInSettings,
} from '../access/oidc-settings.ts';
import { claimsVerifier } from '../access/oidc-tokens.ts';
import type { ProviderAttempt } from './provider-attempt.ts';
import { type SignInFailure, signInProblem } from './provider-problem.ts';

const MAX_CONFIGURATION_AGE_MS = 10 * 60_000;

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
  address(attempt: ProviderAttempt, silent: boolean): Promise<string>;
  /**
   * Exchanges the answer of the provider for the person's identity.
   * @param query the query that the provider added to the redirect URI
   * @throws ProductError with the reason for the person
   */
  identity(attempt: ProviderAttempt, query: string): Promise<Identity>;
}

interface ProviderSignInParts {
  settings: OidcSettings;
  signIn: SignInSettings;
  /** The server's URL for browsers, without a final slash. */
  base: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Pick<Clock, 'now'>;
  log: Pick<Logger, 'info' | 'warn'>;
}

export function providerSignIn({
  settings,
  signIn,
  base,
  env,
  clock,
  log,
}: ProviderSignInParts): ProviderSignIn {
  const name = providerName(settings);
  const redirectUri = new URL(`${base}/page`).href;
  const configuration = rememberedReading(() => readProvider(settings.issuer), {
    clock,
    cooldownMs: PROVIDER_COOLDOWN_MS,
    maxAgeMs: MAX_CONFIGURATION_AGE_MS,
  });
  const failed = (failure: SignInFailure, reason: string): ProductError => {
    const problem = signInProblem(failure, name);
    const level = problem.reason === 'CONFIGURATION' ? 'warn' : 'info';
    log[level]({ reason }, 'a sign-in with the OpenID Connect provider failed');
    return problem;
  };
  const verifiedClaims = claimsVerifier({
    // The audience of an ID token is the client (OpenID Connect Core 1.0 §2).
    settings: { ...settings, audience: signIn.clientId },
    clock,
    onRefusal: (reason) => log.info({ reason }, 'an ID token of the OpenID Connect provider is refused'),
  });
  const prepared = async (): Promise<Prepared> => {
    const openid = await import('openid-client');
    const found = await configuration().catch((error: unknown) => {
      throw failed({ type: 'unreachable' }, messageOf(error));
    });
    const secret = signIn.clientSecret && (await readClientSecret(signIn.clientSecret, env));
    return { openid, found, client: configuredClient(openid, { found, secret, settings, signIn }) };
  };

  return {
    name,
    redirectUri,
    async address(attempt, silent) {
      const { openid, found, client } = await prepared();
      const url = openid.buildAuthorizationUrl(client, {
        redirect_uri: redirectUri,
        scope: requestedScopes(settings, found.scopes_supported).join(' '),
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
        ...(silent && { prompt: 'none' }),
      });
      return url.href;
    },
    async identity(attempt, query) {
      const { openid, client } = await prepared();
      const answer = new URL(redirectUri);
      answer.search = query;
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
      const claims = await verifiedClaims(idToken ?? '').catch((error: unknown) => {
        const away = error instanceof ProductError && error.reason === 'OVERLOADED';
        throw failed({ type: away ? 'unreachable' : 'unverified' }, messageOf(error));
      });
      const access = accessOfClaims(claims, settings);
      if (access === undefined) throw failed({ type: 'no-access' }, 'the claims give no access');
      log.info({ principal: access.principal }, 'a person signed in with the OpenID Connect provider');
      return { ...access, expiresAt: clock.now() + signIn.sessionMinutes * 60_000 };
    },
  };
}

interface Prepared {
  openid: typeof OpenId;
  found: ProviderConfiguration;
  client: OpenId.Configuration;
}

interface ClientParts {
  found: ProviderConfiguration;
  secret: string | undefined;
  settings: OidcSettings;
  signIn: SignInSettings;
}

function configuredClient(
  { ClientSecretBasic, ClientSecretPost, Configuration, None, ...openid }: typeof OpenId,
  { found, secret, settings, signIn }: ClientParts,
): OpenId.Configuration {
  const { scopes_supported: _, ...server } = found;
  const withSecret =
    signIn.clientAuthentication === 'client_secret_basic' ? ClientSecretBasic : ClientSecretPost;
  const client = new Configuration(
    server,
    signIn.clientId,
    { [openid.clockTolerance]: settings.clockSkew },
    secret === undefined ? None() : withSecret(secret),
  );
  client.timeout = PROVIDER_TIMEOUT_MS / 1_000;
  // The settings allow http on a loopback address only.
  if (new URL(settings.issuer).protocol === 'http:') openid.allowInsecureRequests(client);
  return client;
}

function failureOf(error: unknown, openid: typeof OpenId): SignInFailure {
  if (error instanceof openid.AuthorizationResponseError) return { type: 'answered', error: error.error };
  if (error instanceof openid.ResponseBodyError) return { type: 'refused', error: error.error };
  if (error instanceof openid.WWWAuthenticateChallengeError)
    return { type: 'refused', error: 'invalid_client' };
  if (error instanceof openid.ClientError && !UNREACHABLE.has(error.code ?? ''))
    return { type: 'unverified' };
  return { type: 'unreachable' };
}

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
  return `${messageOf(error)}${code}${cause instanceof Error ? `: ${cause.message}` : ''}`;
}
