/** Reads the configuration of an OpenID Connect provider (OpenID Connect Discovery 1.0 §4). */
import { z } from 'zod';
import { isLoopback } from '../../shared/net/loopback.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { openIdConnectUrl } from './oidc-settings.ts';

export const PROVIDER_TIMEOUT_MS = 5_000;
/** The minimum time between two attempts to read from a provider that does not answer. */
export const PROVIDER_COOLDOWN_MS = 30_000;

const configurationSchema = z
  .object({ issuer: z.string(), jwks_uri: z.url(), scopes_supported: z.array(z.string()).optional() })
  .catchall(z.json());
export type OidcProviderConfiguration = z.infer<typeof configurationSchema>;

/** The addresses in a provider's configuration that this server or a person's browser connects to. */
const USED_ADDRESSES = ['jwks_uri', 'authorization_endpoint', 'token_endpoint'] as const;

/**
 * Reads the configuration of the provider.
 * @throws ProductError OVERLOADED if the provider is unreachable, or if its configuration is not valid or names another
 * issuer; CONFIGURATION if the configuration names an address that is not secure
 */
export async function fetchOpenIdProvider(issuer: string): Promise<OidcProviderConfiguration> {
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
  requireSecureAddresses(configuration.data);
  return configuration.data;
}

/**
 * Requires https for the addresses of the provider. X1: client secrets, codes and keys travel to and from them. Only
 * a provider on a loopback address may use http, and only on loopback addresses.
 */
function requireSecureAddresses(configuration: OidcProviderConfiguration): void {
  const { issuer } = configuration;
  for (const name of USED_ADDRESSES) {
    const address = configuration[name];
    if (address === undefined || (typeof address === 'string' && isSecure(address, issuer))) continue;
    throw new ProductError(
      'CONFIGURATION',
      `The OpenID Connect provider ${issuer} names ${JSON.stringify(address).slice(0, 200)} as its ${name}. This server uses only https addresses, and http only between loopback addresses. The operator must correct the configuration of the provider.`,
    );
  }
}

function isSecure(address: string, issuer: string): boolean {
  if (!URL.canParse(address)) return false;
  return [address, issuer].every(isLocalHttp) || new URL(address).protocol === 'https:';
}

function isLocalHttp(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && isLoopback(hostname);
}

export function providerUnreachableError(cause?: unknown): ProductError {
  return new ProductError(
    'OVERLOADED',
    'The OpenID Connect provider of this server does not answer, so the token cannot be checked. Try again in a moment.',
    { cause },
  );
}
