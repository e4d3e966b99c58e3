/**
 * Checks access tokens of an OpenID Connect provider: JWTs, with the provider's public keys (RFC 9068 §4). The server
 * caches the provider's keys, so it can still check tokens for a while if the provider is unreachable. Loads `jose` at
 * the first token.
 */
import type * as Jose from 'jose';
import { z } from 'zod';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { Identity } from './identity.ts';
import { accessOfClaims, openIdConnectUrl, type OidcSettings } from './oidc-settings.ts';

/**
 * Returns the identity behind a JWT.
 * @throws ProductError UNAUTHENTICATED; OVERLOADED if the provider is unreachable
 */
export type VerifyJwt = (token: string) => Promise<Identity>;

const TIMEOUT_MS = 5_000;
/** The minimum time between two requests for the provider's keys, e.g. after a failure. */
const COOLDOWN_MS = 30_000;
const MAX_KEY_AGE_MS = 10 * 60_000;

const configurationSchema = z.object({ issuer: z.string(), jwks_uri: z.url() });

interface VerifierParts {
  settings: OidcSettings;
  clock: Pick<Clock, 'now'>;
  /** Called with the reason when a token is refused. The reason contains no token. */
  onRefusal: (reason: string) => void;
  cooldownMs?: number;
}

type Keys = ReturnType<typeof Jose.createRemoteJWKSet>;

/** True for a text with the form of a signed JWT. Tokens of this server have no dots. */
export function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}

export function oidcVerifier({
  settings,
  clock,
  onRefusal,
  cooldownMs = COOLDOWN_MS,
}: VerifierParts): VerifyJwt {
  let keys: { found: Promise<Keys>; failedAt?: number } | undefined;

  const providerKeys = (): Promise<Keys> => {
    const expired = keys?.failedAt !== undefined && clock.now() - keys.failedAt >= cooldownMs;
    if (keys !== undefined && !expired) return keys.found;
    const asked: typeof keys = { found: discoverKeys(settings, cooldownMs) };
    asked.found.catch(() => (asked.failedAt = clock.now()));
    keys = asked;
    return asked.found;
  };

  return async (token) => {
    const { jwtVerify, errors } = await import('jose');
    const { issuer, audience, algorithms, clockSkew } = settings;
    try {
      const { payload } = await jwtVerify(token, await providerKeys(), {
        issuer,
        audience,
        algorithms,
        clockTolerance: clockSkew,
        currentDate: new Date(clock.now()),
        requiredClaims: ['exp'],
      });
      const access = accessOfClaims(payload, settings);
      if (access === undefined) throw refused('its claims give no access');
      return { ...access, expiresAt: ((payload.exp ?? 0) + clockSkew) * 1_000 };
    } catch (error) {
      const away = isUnreachable(error, errors);
      onRefusal(messageOf(error));
      if (error instanceof ProductError) throw error;
      throw away ? providerAway() : refused('it is not valid here');
    }
  };
}

/** Reads the configuration of the provider. @throws if the provider is unreachable, or names another issuer */
async function discoverKeys({ issuer }: OidcSettings, cooldownDuration: number): Promise<Keys> {
  const { createRemoteJWKSet } = await import('jose');
  const response = await fetch(openIdConnectUrl(issuer), {
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw providerAway(error);
  });
  if (!response.ok) throw providerAway(new Error(`it answered ${response.status}`));
  const configuration = configurationSchema.safeParse(await response.json().catch(() => undefined));
  // OpenID Connect Discovery 1.0 §4.3: the issuer must be exactly the configured one.
  if (!configuration.success || configuration.data.issuer !== issuer)
    throw providerAway(new Error('its configuration is not valid, or names another issuer'));
  const address = new URL(configuration.data.jwks_uri);
  if (address.protocol !== 'https:' && address.origin !== new URL(issuer).origin)
    throw providerAway(new Error('the address of its keys is not secure'));
  return createRemoteJWKSet(address, {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration,
    cacheMaxAge: MAX_KEY_AGE_MS,
  });
}

/**
 * True if the provider is unreachable. `jose` reports an HTTP error of the key address as its base class, and a network
 * failure as a TypeError.
 */
function isUnreachable(error: unknown, { JOSEError, JWKSTimeout }: typeof Jose.errors): boolean {
  if (!(error instanceof JOSEError)) return !(error instanceof ProductError);
  return error instanceof JWKSTimeout || error.code === 'ERR_JOSE_GENERIC';
}

function refused(why: string): ProductError {
  return new ProductError(
    'UNAUTHENTICATED',
    `This server does not accept the token of the OpenID Connect provider: ${why}. Sign in again, or ask the operator.`,
  );
}

function providerAway(cause?: unknown): ProductError {
  return new ProductError(
    'OVERLOADED',
    'The OpenID Connect provider of this server does not answer, so the token cannot be checked. Try again in a moment.',
    { cause },
  );
}
