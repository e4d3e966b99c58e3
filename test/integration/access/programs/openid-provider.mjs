/**
 * Runs an OpenID Connect provider (`oidc-provider`) on a loopback address, with the argument
 * `{"port", "jwks", "audience", "redirectUri"}`. Its clients get access tokens in the form of JWTs. With a redirect URI, which
 * may have any port, it also has the clients `page` (public) and `secret-page`, and a form that signs in each person by
 * name. It prints its issuer when it listens.
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

/** The groups of each person. `ann-2` is a person with the groups of `ann`. Whoever is missing here is a guest. */
const GROUPS = {
  ann: ['developers', 'approvers'],
  bob: ['developers', 'approvers'],
  rita: ['developers'],
};
const groupsOf = (name) => GROUPS[name.replace(/-\d+$/, '')] ?? ['guests'];

function pageClients(redirectUri) {
  const common = {
    grant_types: ['authorization_code'],
    redirect_uris: [redirectUri],
    response_types: ['code'],
  };
  return [
    { ...common, client_id: 'page', token_endpoint_auth_method: 'none' },
    {
      ...common,
      client_id: 'secret-page',
      client_secret: 'secret-of-the-page',
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ];
}

function withoutPort(address) {
  const url = new URL(address);
  url.port = '';
  return url.href;
}

/** A method of a client. Allows any port, because servers on many ports share a provider. */
function redirectUriAllowed(address) {
  return this.redirectUris.map(withoutPort).includes(withoutPort(address));
}

/** Shows the form, or takes its answer. */
async function interact(provider, request, response) {
  const { prompt } = await provider.interactionDetails(request, response);
  if (request.method !== 'POST') {
    response.setHeader('Content-Type', 'text/html');
    response.end(`<link rel="icon" href="data:,"><form method="post"><p>${prompt.name}</p><label>Name <input name="name"></label>
      <button name="act" value="enter">Enter</button><button name="act" value="refuse">Refuse</button></form>`);
    return;
  }
  let body = '';
  for await (const piece of request) body += piece;
  const form = new URLSearchParams(body);
  const result =
    form.get('act') === 'refuse'
      ? { error: 'access_denied', error_description: '<b>refused</b>' }
      : { login: { accountId: form.get('name') } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

const { port, jwks, audience, redirectUri } = JSON.parse(process.argv[2] ?? '{}');
const server = createServer();
server.listen(port, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks,
    clients: [client('ann'), client('guest'), ...(redirectUri === undefined ? [] : pageClients(redirectUri))],
    findAccount: (_context, name) => ({
      accountId: name,
      claims: () => ({ sub: name, team: 'acme', groups: groupsOf(name) }),
    }),
    // The person's claims are in the ID token, as the rules of the server need them.
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], profile: ['team'], groups: ['groups'] },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    // The operator of the provider has agreed for all persons.
    async loadExistingGrant(context) {
      const grant = new provider.Grant({
        clientId: context.oidc.client.clientId,
        accountId: context.oidc.session.accountId,
      });
      grant.addOIDCScope('openid profile email groups');
      grant.addResourceScope(audience, 'a2a');
      await grant.save();
      return grant;
    },
    // What the operator of the provider adds to each access token.
    extraTokenClaims: (_context, token) => ({
      team: 'acme',
      groups: groupsOf(token.clientId),
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
  provider.Client.prototype.redirectUriAllowed = redirectUriAllowed;
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url.startsWith('/interaction/')) answer(request, response);
    else
      interact(provider, request, response).catch((error) => {
        response.statusCode = 500;
        response.end(String(error));
      });
  });
  process.stdout.write(`${issuer}\n`);
});

// It ends with the test, also if the test is killed.
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.exit(), 1_000).unref();
