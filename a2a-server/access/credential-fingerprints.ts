/**
 * Computes the fingerprint of a principal: a hash of what gives it access, which is its tokens in the settings, or the
 * settings of the OpenID Connect provider. A page session or a push notification receiver stores the fingerprint of its
 * principal. If the fingerprint has changed since, that access has ended. Pure.
 */
import { createHmac } from 'node:crypto';
import { sha256 } from '../../shared/runtime/sha256.ts';
import type { OidcSettings } from './oidc-settings.ts';

interface CredentialFingerprintsParts {
  credentials: readonly { principal: string; token: string }[];
  provider: OidcSettings | undefined;
  /** Separates the fingerprints of different uses. */
  purpose: string;
}

interface CredentialHolder {
  principal: string;
  /** True if the access comes from a token of the provider. */
  provided: boolean;
}

/**
 * Returns the fingerprint of a holder. Undefined if the settings do not contain what gives this access: a token of the
 * principal, or a provider.
 */
export type CredentialFingerprintOf = (holder: CredentialHolder) => string | undefined;

export function createCredentialFingerprints({
  credentials,
  provider,
  purpose,
}: CredentialFingerprintsParts): CredentialFingerprintOf {
  // A fingerprint is a keyed hash of the tokens. It changes with each token, but reveals no token.
  const fingerprints = new Map(
    credentials.map(({ principal }) => {
      const tokens = credentials.filter((each) => each.principal === principal).map(({ token }) => token);
      return [principal, createHmac('sha256', JSON.stringify(tokens)).update(purpose).digest('hex')];
    }),
  );
  const providerFingerprint = provider && sha256(JSON.stringify(provider));
  return ({ principal, provided }) => (provided ? providerFingerprint : fingerprints.get(principal));
}
