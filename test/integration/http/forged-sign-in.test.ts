/** Tests the sign-in to the page with answers that no correct OpenID Connect provider gives. */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { SignJWT, UnsecuredJWT } from 'jose';
import { z } from 'zod';
import { oidcSchema } from '../../../a2a-server/access/oidc-settings.ts';
import { MAX_CODE_EXCHANGES, createProviderSignIn } from '../../../a2a-server/page/provider-sign-in.ts';
import { BrowserCookies } from '../../support/browser-cookies.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type ForgingProvider, startForgingProvider } from '../../support/forging-provider.ts';
import { makeProviderKey, type ProviderKey } from '../../support/openid-provider.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { request, type RpcAnswer, startServer, type TestServer } from './test-server.ts';

/** The time of the server, in seconds. It is not the time of this machine, so each check of a token must use it. */
const NOW = Math.floor(new FakeClock().now() / 1_000);
const SECRET = 'a-secret-of-the-page-with-thirty-two-bytes';

let provider: ForgingProvider;
let server: TestServer;
let key: ProviderKey;

beforeAll(async () => {
  key = await makeProviderKey('first');
});
beforeEach(async () => {
  provider = await startForgingProvider([key.jwk]);
});
afterEach(async () => {
  await server.close();
  await provider.stop();
});

async function start(client: object = {}, env: Record<string, string> = {}): Promise<void> {
  const clock = new FakeClock();
  server = await startServer({
    clock,
    async openProvider({ url, log }) {
      const settings = oidcSchema.unwrap().parse({
        issuer: provider.issuer,
        audience: 'https://agents.example.com',
        tenant: { claim: 'team' },
        roles: [{ claim: 'groups', value: 'developers', roles: ['delegate'] }],
        signIn: { clientId: 'page', ...client },
      });
      if (settings.signIn === undefined) throw new Error('the page offers no sign-in');
      return {
        settings,
        signIn: createProviderSignIn({ settings, signIn: settings.signIn, base: url, env, clock, log }),
      };
    },
  });
}

async function post(browser: BrowserCookies, path: string, body: object): Promise<RpcAnswer> {
  const headers = { authorization: undefined, origin: server.url, ...browser.sent(path) };
  const answer = await request(server, { path, body: JSON.stringify(body), headers });
  browser.take(answer.headers, path);
  return answer;
}

interface Begun {
  browser: BrowserCookies;
  address: URL;
  pageSecret: string;
}

async function begin(): Promise<Begun> {
  const browser = new BrowserCookies();
  const { body } = await post(browser, '/page/provider/start', {});
  const { address, pageSecret } = z.object({ address: z.url(), pageSecret: z.string() }).parse(body);
  return { browser, address: new URL(address), pageSecret };
}

function finish({ browser, address, pageSecret }: Begun): Promise<RpcAnswer> {
  const query = `?code=the-code&state=${address.searchParams.get('state') ?? ''}`;
  return post(browser, '/page/provider/finish', { pageSecret, query });
}

function messageIn({ body }: RpcAnswer): string {
  return z.object({ error: z.object({ message: z.string() }) }).parse(body).error.message;
}

type Claims = Record<string, unknown>;

/** Returns the claims of a correct ID token for this sign-in. */
function correctClaims({ address }: Begun): Claims {
  return {
    iss: provider.issuer,
    sub: 'ann',
    aud: 'page',
    iat: NOW,
    exp: NOW + 300,
    nonce: address.searchParams.get('nonce'),
    team: 'acme',
    groups: ['developers'],
  };
}

const signed = (claims: Claims, by = key): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: by.id }).sign(by.privateKey);

async function signInWith(idToken: string | undefined, begun: Begun): Promise<RpcAnswer> {
  provider.onExchange = () => ({
    body: JSON.stringify({ access_token: 'unused', token_type: 'Bearer', id_token: idToken }),
  });
  return finish(begun);
}

const isSignedIn = ({ headers }: RpcAnswer): boolean =>
  /approvals-[0-9a-f]{8}=[\w-]/.test(headers.getSetCookie().join());

describe('X1 an ID token', () => {
  beforeEach(() => start());

  test('that is correct gives a session', async () => {
    const begun = await begin();
    const answer = await signInWith(await signed(correctClaims(begun)), begun);
    expect(answer.status).toBe(200);
    expect(isSignedIn(answer)).toBe(true);
  });

  test.each<[string, Claims]>([
    ['without a nonce', { nonce: undefined }],
    ['with another nonce', { nonce: 'x'.repeat(43) }],
    ['of another issuer', { iss: 'https://other.example.com' }],
    ['for another client', { aud: 'other' }],
    ['for two clients without an authorized party', { aud: ['page', 'other'] }],
    ['that another client requested', { aud: ['page', 'other'], azp: 'other' }],
    ['that has expired', { exp: NOW - 60 }],
    ['without an end', { exp: undefined }],
    ['without a subject', { sub: undefined }],
    ['with a list of subjects', { sub: ['ann'] }],
    ['that is not valid yet', { nbf: NOW + 600 }],
  ])('%s gives no session', async (_what, wrong) => {
    const begun = await begin();
    const answer = await signInWith(await signed({ ...correctClaims(begun), ...wrong }), begun);
    expect(answer.status).toBe(401);
    expect(messageIn(answer)).toContain('does not belong to this sign-in');
    expect(isSignedIn(answer)).toBe(false);
  });

  test.each<[string, Claims]>([
    ['with a tenant inside the name', { sub: 'acme/ann' }],
    ['without a tenant', { team: undefined }],
    ['with a tenant that is a path', { team: 'acme/beta' }],
    ['with a longer group', { groups: ['developers-of-beta'] }],
  ])('%s gives no access', async (_what, wrong) => {
    const begun = await begin();
    const answer = await signInWith(await signed({ ...correctClaims(begun), ...wrong }), begun);
    expect(answer.status).toBe(403);
    expect(isSignedIn(answer)).toBe(false);
  });

  test.each<[string, (claims: Claims) => string | Promise<string> | undefined]>([
    ['with another key', async (claims) => signed(claims, await makeProviderKey('first'))],
    ['with no signature', (claims) => new UnsecuredJWT(claims).encode()],
    [
      'with the signature of a secret',
      (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(SECRET)),
    ],
    ['that is missing', () => undefined],
  ])('%s gives no session', async (_what, forged) => {
    const begun = await begin();
    const answer = await signInWith(await forged(correctClaims(begun)), begun);
    expect(answer.status).toBe(401);
    expect(isSignedIn(answer)).toBe(false);
  });
});

test('X1 the log has no part of a token response that is not JSON', async () => {
  await start();
  const begun = await begin();
  provider.onExchange = () => ({ body: `{"access_token":secret-1}` });
  const answer = await finish(begun);
  expect(messageIn(answer)).toMatch(/./);
  expect(server.logged()).not.toContain('secret-1');
});

test('X1 the server follows no redirect of the token endpoint', async () => {
  await start();
  const begun = await begin();
  provider.onExchange = () => ({
    status: 307,
    headers: { Location: `${provider.issuer}/elsewhere` },
    body: '',
  });
  const answer = await finish(begun);
  expect(answer.status).toBe(503);
});

test.each([
  ['no authorization endpoint', { authorization_endpoint: undefined }],
  ['an authorization endpoint that is a script', { authorization_endpoint: 'javascript:alert(1)' }],
])('the person reads that the operator must act if the provider has %s', async (_what, configuration) => {
  provider.configuration = configuration;
  await start();
  const answer = await post(new BrowserCookies(), '/page/provider/start', {});
  expect(answer.status).toBe(500);
  expect(messageIn(answer)).toMatch(/Only the operator can correct this/);
});

test.each(['jwks_uri', 'authorization_endpoint', 'token_endpoint'])(
  'X1 a provider on loopback cannot name an address without TLS on another host as its %s',
  async (name) => {
    provider.configuration = { [name]: 'http://login.example.com/here' };
    await start();
    const answer = await post(new BrowserCookies(), '/page/provider/start', {});
    expect(answer.status).toBe(500);
    expect(messageIn(answer)).toMatch(/Only the operator can correct this/);
    expect(server.logged()).toContain(`http://login.example.com/here\\" as its ${name}`);
  },
);

test('the person reads that the operator must act if the provider has no token endpoint', async () => {
  provider.configuration = { token_endpoint: undefined };
  await start();
  const answer = await finish(await begin());
  expect(answer.status).toBe(500);
  expect(messageIn(answer)).toMatch(/Only the operator can correct this/);
});

test('X1 the command that prints the secret runs once for many sign-ins, and not when they begin', async () => {
  const place = await temporaryDirectory();
  const [program, runs] = [join(place, 'print'), join(place, 'runs')];
  await writeFile(program, `#!/bin/sh\necho run >> ${runs}\necho ${SECRET}\n`);
  await chmod(program, 0o700);
  await writeFile(runs, '');
  await start({ clientSecret: { command: [program] } });
  const begun = await Promise.all(Array.from({ length: 10 }, begin));
  expect(await readFile(runs, 'utf8')).toBe('');
  await Promise.all(begun.map(finish));
  expect(await readFile(runs, 'utf8')).toBe('run\n');
});

test('X1 no error names the place of the secret', async () => {
  await start({ clientSecret: { file: '/nowhere/secret' } });
  const answer = await finish(await begin());
  expect(answer.text).not.toContain('/nowhere');
  expect(server.logged()).toContain('/nowhere');
});

test('X1 only some sign-ins are exchanged at one time, while the provider is slow', async () => {
  await start();
  const begun = await Promise.all(Array.from({ length: MAX_CODE_EXCHANGES + 1 }, begin));
  const waiting: (() => void)[] = [];
  const full = new Promise<void>((resolve) => {
    provider.onExchange = () =>
      new Promise((answer) => {
        waiting.push(() => answer({ status: 400, body: '{"error":"invalid_grant"}' }));
        if (waiting.length === MAX_CODE_EXCHANGES) resolve();
      });
  });
  const [last, ...first] = begun;
  if (last === undefined) throw new Error('there is no attempt');
  const answers = first.map(finish);
  await full;
  const refused = await finish(last);
  expect(refused.status).toBe(503);
  expect(messageIn(refused)).toBe('Too many people sign in at this moment. Try again in a moment.');
  for (const answer of waiting) answer();
  for (const answer of await Promise.all(answers)) expect(answer.status).toBe(401);
  provider.onExchange = () => ({ status: 400, body: '{"error":"invalid_grant"}' });
  expect((await finish(await begin())).status).toBe(401);
});
