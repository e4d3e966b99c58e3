/**
 * Checks access tokens of an OpenID Connect provider: JWTs, with the provider's public keys (RFC 9068 §4). The server
 * caches the provider's keys, so it can still check tokens for a while if the provider is unreachable. Loads `jose` at
 * the first token.
 */
import type * as Jose from 'jose';
import type { Clock } from '../../shared/runtime/clock.ts';
import { createCachedRead } from '../runtime/cached-read.ts';
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { Identity } from './identity.ts';
import {
  PROVIDER_COOLDOWN_MS,
  PROVIDER_TIMEOUT_MS,
  providerUnreachableError,
  fetchOpenIdProvider,
} from './oidc-provider.ts';
import { accessOfClaims, type OidcSettings } from './oidc-settings.ts';

/**
 * Returns the identity behind a JWT.
 * @throws ProductError UNAUTHENTICATED; OVERLOADED if the provider is unreachable; CONFIGURATION if it names an insecure address
 */
export type AuthenticateJwt = (token: string) => Promise<Identity>;

const MAX_KEY_AGE_MS = 10 * 60_000;

/**
 * The maximum number of reads of the provider's keys in a row. The server reads the keys when a token names an unknown
 * key. These reads need no wait, so a token with a new key of the provider is accepted immediately. After these reads,
 * one more is allowed in each fifth of the cooldown. So tokens with made-up key ids cause few requests to the provider.
 */
const READS_PER_COOLDOWN = 5;

interface VerifierParts {
  settings: OidcSettings;
  clock: Pick<Clock, 'now' | 'elapsed'>;
  /** Called with the reason when a token is refused. The reason contains no token. */
  onRefusal: (reason: string) => void;
  cooldownMs?: number;
}

type Keys = ReturnType<typeof Jose.createRemoteJWKSet>;
type FindKey = (...asked: Parameters<Keys>) => ReturnType<Keys>;

/** True for a text with the form of a signed JWT. Tokens of this server have no dots. */
export function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}

export function createJwtAuthenticator(parts: VerifierParts): AuthenticateJwt {
  const { settings, onRefusal } = parts;
  const verifiedClaims = createClaimsVerifier(parts);
  return async (token) => {
    const claims = await verifiedClaims(token);
    const access = accessOfClaims(claims, settings);
    if (access === undefined) {
      onRefusal('its claims give no access');
      throw refusedTokenError('its claims give no access');
    }
    return { ...access, expiresAt: (claims.exp + settings.clockSkew) * 1_000 };
  };
}

/**
 * Returns a function that checks a JWT of the provider, and returns its claims. That function throws the errors of
 * `AuthenticateJwt`.
 */
export function createClaimsVerifier({
  settings,
  clock,
  onRefusal,
  cooldownMs = PROVIDER_COOLDOWN_MS,
}: VerifierParts): (token: string) => Promise<Jose.JWTPayload & { exp: number }> {
  const providerKeys = createKeySource(settings, { clock, cooldownMs });
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
      return { ...payload, exp: payload.exp ?? 0 };
    } catch (error) {
      const away = isUnreachable(error, errors);
      onRefusal(errorMessageOf(error));
      if (error instanceof ProductError) throw error;
      throw away ? providerUnreachableError() : refusedTokenError('it is not valid here');
    }
  };
}

/**
 * Returns a function that reads the provider's configuration, and resolves with `FindKey`. `FindKey` finds a key at the
 * address that the configuration names. The provider may move its keys to another address. If the configuration cannot
 * be read again, the last known address is used.
 */
function createKeySource(
  { issuer }: OidcSettings,
  { clock, cooldownMs }: { clock: Pick<Clock, 'now' | 'elapsed'>; cooldownMs: number },
): () => Promise<FindKey> {
  const mayRead = createReadLimit(clock, cooldownMs);
  const configuration = createCachedRead(() => fetchOpenIdProvider(issuer), {
    clock,
    cooldownMs,
    maxAgeMs: MAX_KEY_AGE_MS,
  });
  let last: { address: string; keys: Keys } | undefined;
  /** The error of the last read for an unknown key. Undefined if it succeeded. */
  let failure: unknown;
  return async () => {
    const { createRemoteJWKSet, errors } = await import('jose');
    const address = await configuration().then(
      ({ jwks_uri }) => jwks_uri,
      (error: unknown) => {
        if (last === undefined) throw error;
        return last.address;
      },
    );
    if (last?.address !== address) {
      const keys = createRemoteJWKSet(new URL(address), {
        timeoutDuration: PROVIDER_TIMEOUT_MS,
        // With this value, `jose` does not read the keys again when a token names an unknown key. The function below
        // decides when to read them.
        cooldownDuration: Infinity,
        cacheMaxAge: MAX_KEY_AGE_MS,
      });
      last = { address, keys };
    }
    const { keys } = last;
    return async (...asked) => {
      try {
        return await keys(...asked);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        // The keys must not be read again yet. If the last read failed, the key may be new and valid. So the error of
        // that read is thrown, and not the error of an unknown key.
        if (!(keys.reloading || mayRead())) throw failure ?? error;
        await keys.reload().then(
          () => (failure = undefined),
          (reason: unknown) => {
            failure = reason;
            throw reason;
          },
        );
        return keys(...asked);
      }
    };
  };
}

/**
 * Returns a limit of reads: a function that returns true if the keys may be read now. It allows `READS_PER_COOLDOWN` reads
 * in a row, then one for each part of the cooldown.
 */
function createReadLimit(clock: Pick<Clock, 'elapsed'>, cooldownMs: number): () => boolean {
  const partMs = cooldownMs / READS_PER_COOLDOWN;
  let spentUntil = -Infinity;
  return () => {
    const now = clock.elapsed();
    const next = Math.max(spentUntil, now - cooldownMs) + partMs;
    if (next > now) return false;
    spentUntil = next;
    return true;
  };
}

/**
 * True if the provider is unreachable. For an HTTP error of the key address, `jose` throws its base class `JOSEError`.
 * For a network failure, it throws a TypeError.
 */
function isUnreachable(error: unknown, { JOSEError, JWKSTimeout }: typeof Jose.errors): boolean {
  if (!(error instanceof JOSEError)) return !(error instanceof ProductError);
  return error instanceof JWKSTimeout || error.code === 'ERR_JOSE_GENERIC';
}

function refusedTokenError(why: string): ProductError {
  return new ProductError(
    'UNAUTHENTICATED',
    `This server does not accept the token of the OpenID Connect provider: ${why}. Sign in again, or ask the operator.`,
  );
}
