/**
 * Computes the fingerprint of a principal: a hash of its tokens in the settings, or of the settings of the OpenID
 * Connect provider. A page session or a push notification receiver stores the fingerprint of its principal. If the
 * fingerprint has changed since, the session or the receiver has lost its access. Pure.
 */
import { createHmac } from 'node:crypto';
import { sha256 } from '../../shared/runtime/sha256.ts';
import type { OidcSettings } from './oidc-settings.ts';

interface CredentialFingerprintsParts {
  credentials: readonly { principal: string; token: string }[];
  provider: OidcSettings | undefined;
  /**
   * For different purposes, the same tokens have different fingerprints. The provider's fingerprint is always the same.
   */
  purpose: string;
}

interface CredentialHolder {
  principal: string;
  /** True if the access comes from a token of the provider. */
  provided: boolean;
}

/**
 * Returns the fingerprint of a holder. For an access with a token of the settings, undefined if the settings contain no
 * token of the principal. For an access from the provider, undefined if the settings contain no provider.
 */
export type CredentialFingerprintOf = (holder: CredentialHolder) => string | undefined;

export function createCredentialFingerprints({
  credentials,
  provider,
  purpose,
}: CredentialFingerprintsParts): CredentialFingerprintOf {
  // The tokens are the key of the hash. So the fingerprint changes with each token, but reveals no token.
  const fingerprints = new Map(
    credentials.map(({ principal }) => {
      const tokens = credentials.filter((each) => each.principal === principal).map(({ token }) => token);
      return [principal, createHmac('sha256', JSON.stringify(tokens)).update(purpose).digest('hex')];
    }),
  );
  const providerFingerprint = provider && sha256(JSON.stringify(provider));
  return ({ principal, provided }) => (provided ? providerFingerprint : fingerprints.get(principal));
}
