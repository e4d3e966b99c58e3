/** Starts an OpenID Connect provider in its own process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';

const PROGRAM = fileURLToPath(new URL('../integration/access/programs/openid-provider.mjs', import.meta.url));

/** The audience of the provider's access tokens. */
export const AUDIENCE = 'https://agents.example.com';

export interface ProviderKey {
  id: string;
  privateKey: CryptoKey;
  jwk: JWK;
}

export async function makeProviderKey(id: string): Promise<ProviderKey> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { id, privateKey, jwk: { ...(await exportJWK(privateKey)), kid: id, alg: 'RS256', use: 'sig' } };
}

export interface RunningProvider {
  issuer: string;
  stop: () => Promise<void>;
}

interface ProviderOptions {
  keys: readonly ProviderKey[];
  /** By default, a free port. */
  port?: number;
  /** The address of the page. Without it, no person can sign in. */
  redirectUri?: string;
}

export async function startProvider({
  keys,
  port = 0,
  redirectUri,
}: ProviderOptions): Promise<RunningProvider> {
  const given = { port, redirectUri, audience: AUDIENCE, jwks: { keys: keys.map(({ jwk }) => jwk) } };
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, JSON.stringify(given)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (child.stdout === null) throw new Error('the provider has no output');
  const [line]: unknown[] = await once(child.stdout, 'data');
  return {
    issuer: String(line).trim(),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
