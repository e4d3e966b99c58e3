/** Checks the settings of the sign-in to the page with the OpenID Connect provider. */
import { isLoopback } from '../../shared/net/loopback.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import { readClientSecret } from '../access/client-secret.ts';
import type { ServerSettings } from './settings/settings.ts';

type CheckedSettings = Pick<ServerSettings, 'oidc' | 'publicUrl'>;

/**
 * Checks what a sign-in with the provider needs: the public address, and the secret. A command that prints the secret
 * runs only at the sign-in and not here, because a person may have to unlock a password store.
 * @throws ProductError CONFIGURATION
 */
export async function checkOidcSignInSettings(
  { oidc, publicUrl }: CheckedSettings,
  env: Environment,
): Promise<void> {
  if (oidc?.signIn === undefined) return;
  const problem = signInAddressProblem(publicUrl);
  if (problem !== undefined)
    throw new ProductError('CONFIGURATION', `Setting "oidc.signIn" ${problem}`, {
      facts: { key: 'publicUrl' },
    });
  const { clientSecret } = oidc.signIn;
  if (clientSecret !== undefined && !('command' in clientSecret)) await readClientSecret(clientSecret, env);
}

/** Returns why the provider cannot send a browser back to this address. Pure. */
export function signInAddressProblem(publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined)
    return 'needs the public address of this server, because the provider sends the browser back to it. Set --public-url, e.g. https://agents.example.com, and register <public-url>/page as a redirect URI of the client at the provider.';
  const { protocol, hostname } = new URL(publicUrl);
  return protocol === 'https:' || isLoopback(hostname)
    ? undefined
    : `needs https: over http, others on the network could read the sign-in. --public-url is ${publicUrl}. Only a loopback address may have http.`;
}
