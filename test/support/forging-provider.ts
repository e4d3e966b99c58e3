/**
 * An OpenID Connect provider whose configuration and token responses the test chooses. A correct provider never sends
 * wrong ones.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { JWK } from 'jose';
import { listenOnLoopback } from './listen-on-loopback.ts';

export interface TokenResponse {
  status?: number;
  headers?: Record<string, string>;
  body: string;
}

export interface ForgingProvider {
  issuer: string;
  /** Replaces parts of the configuration. */
  configuration: Record<string, unknown>;
  /** Answers the token endpoint. */
  onExchange: () => TokenResponse | Promise<TokenResponse>;
  stop: () => Promise<void>;
}

export async function startForgingProvider(keys: readonly JWK[]): Promise<ForgingProvider> {
  const server = createServer((request, response) => {
    const answer = ({ status = 200, headers, body }: TokenResponse): void => {
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
    };
    const answered = async (): Promise<TokenResponse> => {
      if (request.method !== 'POST')
        return {
          body: JSON.stringify(request.url === '/jwks' ? { keys: keys.map(publicPart) } : configuration()),
        };
      await text(request);
      return provider.onExchange();
    };
    answered().then(answer, (error: unknown) => answer({ status: 500, body: String(error) }));
  });
  const { host, close } = await listenOnLoopback(server);
  const issuer = `http://${host}`;
  const configuration = (): object => ({
    issuer,
    jwks_uri: `${issuer}/jwks`,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    ...provider.configuration,
  });
  const provider: ForgingProvider = {
    issuer,
    configuration: {},
    onExchange: () => ({ status: 400, body: '{"error":"invalid_grant"}' }),
    stop: close,
  };
  return provider;
}

function publicPart({ kty, n, e, kid, alg, use }: JWK): JWK {
  return Object.fromEntries(Object.entries({ kty, n, e, kid, alg, use }));
}
