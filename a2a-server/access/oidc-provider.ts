/** Reads the configuration of an OpenID Connect provider (OpenID Connect Discovery 1.0 §4). */
import { z } from 'zod';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { openIdConnectUrl } from './oidc-settings.ts';

export const PROVIDER_TIMEOUT_MS = 5_000;
/** The minimum time between two attempts to read from a provider that does not answer. */
export const PROVIDER_COOLDOWN_MS = 30_000;

const configurationSchema = z
  .object({ issuer: z.string(), jwks_uri: z.url(), scopes_supported: z.array(z.string()).optional() })
  .catchall(z.json());
export type ProviderConfiguration = z.infer<typeof configurationSchema>;

/** @throws ProductError OVERLOADED if the provider is unreachable, or names another issuer */
export async function readProvider(issuer: string): Promise<ProviderConfiguration> {
  const response = await fetch(openIdConnectUrl(issuer), {
    redirect: 'error',
    signal: AbortSignal.timeout(PROVIDER_TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw providerUnreachableError(error);
  });
  if (!response.ok) throw providerUnreachableError(new Error(`it answered ${response.status}`));
  const configuration = configurationSchema.safeParse(await response.json().catch(() => undefined));
  // OpenID Connect Discovery 1.0 §4.3: the issuer must be exactly the configured one.
  if (!configuration.success || configuration.data.issuer !== issuer)
    throw providerUnreachableError(new Error('its configuration is not valid, or names another issuer'));
  return configuration.data;
}

export function providerUnreachableError(cause?: unknown): ProductError {
  return new ProductError(
    'OVERLOADED',
    'The OpenID Connect provider of this server does not answer, so the token cannot be checked. Try again in a moment.',
    { cause },
  );
}

/**
 * Returns a function that reads once. It reads again when the value is too old, and after a failure at the earliest
 * when the cooldown is over.
 */
export function createCachedRead<Value>(
  read: () => Promise<Value>,
  {
    clock,
    cooldownMs,
    maxAgeMs = Infinity,
  }: { clock: Pick<Clock, 'now'>; cooldownMs: number; maxAgeMs?: number },
): () => Promise<Value> {
  let last: { value: Promise<Value>; usableUntil: number } | undefined;
  return () => {
    if (last !== undefined && clock.now() < last.usableUntil) return last.value;
    const reading = { value: read(), usableUntil: clock.now() + maxAgeMs };
    reading.value.catch(() => (reading.usableUntil = clock.now() + cooldownMs));
    last = reading;
    return reading.value;
  };
}
