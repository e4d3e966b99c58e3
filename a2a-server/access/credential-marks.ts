/**
 * Computes the mark of a principal: a hash of what gives it access, which is its tokens in the settings, or the
 * settings of the OpenID Connect provider. A page session or a push notification receiver stores the mark of its
 * principal. If the mark has changed since, that access has ended. Pure.
 */
import { createHash, createHmac } from 'node:crypto';
import type { OidcSettings } from './oidc-settings.ts';

interface CredentialMarksParts {
  credentials: readonly { principal: string; token: string }[];
  provider: OidcSettings | undefined;
  /** Separates the marks of different uses. */
  purpose: string;
}

interface CredentialHolder {
  principal: string;
  /** True if the access comes from a token of the provider. */
  provided: boolean;
}

/** Returns the mark of a holder. Undefined if no token in the settings, or no provider, gives this access. */
export type CredentialMarkOf = (holder: CredentialHolder) => string | undefined;

export function createCredentialMarks({
  credentials,
  provider,
  purpose,
}: CredentialMarksParts): CredentialMarkOf {
  // A mark is a keyed hash of the tokens. It changes with each token, but reveals no token.
  const marks = new Map(
    credentials.map(({ principal }) => {
      const tokens = credentials.filter((each) => each.principal === principal).map(({ token }) => token);
      return [principal, createHmac('sha256', JSON.stringify(tokens)).update(purpose).digest('hex')];
    }),
  );
  const providerMark = provider && createHash('sha256').update(JSON.stringify(provider)).digest('hex');
  return ({ principal, provided }) => (provided ? providerMark : marks.get(principal));
}
