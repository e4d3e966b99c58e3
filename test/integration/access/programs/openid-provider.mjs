/**
 * Runs an OpenID Connect provider (`oidc-provider`) on a loopback address, with the argument
 * `{"port", "jwks", "audience"}`. Its clients get access tokens in the form of JWTs. It prints its issuer when it listens.
 */
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

function client(name) {
  return {
    client_id: name,
    client_secret: `secret of ${name}`,
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    token_endpoint_auth_method: 'client_secret_post',
  };
}

const { port, jwks, audience } = JSON.parse(process.argv[2] ?? '{}');
const server = createServer();
server.listen(port, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks,
    clients: [client('ann'), client('guest')],
    // What the operator of the provider adds to each access token.
    extraTokenClaims: (_context, token) => ({
      team: 'acme',
      groups: token.clientId === 'ann' ? ['developers', 'approvers'] : ['guests'],
    }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: 'a2a',
          audience: resource,
          accessTokenTTL: 600,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
        defaultResource: () => audience,
      },
    },
  });
  server.on('request', provider.callback());
  process.stdout.write(`${issuer}\n`);
});
