/**
 * Tests the sign-in to the page with a real OpenID Connect provider, request by request, with the cookies of a browser.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { oidcSchema } from '../../../a2a-server/access/oidc-settings.ts';
import { SIGN_IN_ATTEMPT_MS } from '../../../a2a-server/page/provider-sign-in-attempt.ts';
import { createProviderSignIn } from '../../../a2a-server/page/provider-sign-in.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { BrowserCookies } from '../../support/browser-cookies.ts';
import { startForgingProvider } from '../../support/forging-provider.ts';
import {
  AUDIENCE,
  makeProviderKey,
  type RunningProvider,
  startProvider,
} from '../../support/openid-provider.ts';
import { request, startServer, userMessage } from './test-server.ts';
import type { Provided, RpcAnswer, SentHeaders, TestServer } from './test-server.ts';

const MINUTE_MS = 60_000;
const CONFIDENTIAL = { clientId: 'secret-page', clientSecret: { env: 'PAGE_SECRET' } };

/** One for all tests, because its start takes longer than most of them. */
let provider: RunningProvider;
let server: TestServer;

beforeAll(async () => {
  const keys = [await makeProviderKey('first')];
  provider = await startProvider({ keys, redirectUri: 'http://127.0.0.1/page' });
});
afterAll(() => provider.stop());

async function start(
  client: object = {},
  env: Record<string, string> = {},
  more: object = {},
): Promise<void> {
  const clock = new FakeClock();
  // The tokens of the provider have real times.
  clock.jump(Date.now() - clock.now());
  server = await startServer({
    clock,
    openProvider({ url, log }): Promise<Provided> {
      const settings = oidcSchema.unwrap().parse({
        issuer: provider.issuer,
        audience: AUDIENCE,
        tenant: { claim: 'team' },
        roles: [
          { claim: 'groups', value: 'developers', roles: ['delegate'] },
          { claim: 'groups', value: 'approvers', roles: ['approve'] },
        ],
        groups: [{ claim: 'groups', value: 'approvers', groups: ['release'] }],
        signIn: { clientId: 'page', sessionMinutes: 30, ...client },
        ...more,
      });
      if (settings.signIn === undefined) throw new Error('the page offers no sign-in');
      return Promise.resolve({
        settings,
        signIn: createProviderSignIn({ settings, signIn: settings.signIn, base: url, env, clock, log }),
      });
    },
  });
}

interface Begun {
  address: URL;
  pageSecret: string;
}

const post = (path: string, body: object, headers: SentHeaders = {}): Promise<RpcAnswer> =>
  request(server, {
    path,
    body: JSON.stringify(body),
    headers: { authorization: undefined, origin: server.url, ...headers },
  });

async function begin(browser: BrowserCookies, body: object = {}): Promise<Begun> {
  const answer = await post('/page/provider/start', body, browser.sent('/page/provider/start'));
  browser.take(answer.headers, '/page/provider/start');
  const { address, pageSecret } = z
    .object({ address: z.string(), pageSecret: z.string() })
    .parse(answer.body);
  return { address: new URL(address), pageSecret };
}

/** Follows the redirects of the provider, fills in its form, and returns the query that it adds to the redirect URI. */
async function visit(browser: BrowserCookies, address: URL, name: string, act = 'enter'): Promise<string> {
  let url = address;
  let form: URLSearchParams | undefined;
  for (;;) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { ...browser.sent(url.pathname) },
      ...(form && { method: 'POST', body: form }),
    });
    browser.take(response.headers, url.pathname);
    const location = response.headers.get('location');
    if (location === null) {
      if (form !== undefined || response.status !== 200) throw new Error(await response.text());
      form = new URLSearchParams({ name, act });
      continue;
    }
    form = undefined;
    url = new URL(location, url);
    if (url.href.startsWith(`${server.url}/page`)) return url.search;
  }
}

async function finish(browser: BrowserCookies, pageSecret: string, query: string): Promise<RpcAnswer> {
  const path = '/page/provider/finish';
  const answer = await post(path, { pageSecret, query }, browser.sent(path));
  browser.take(answer.headers, path);
  return answer;
}

async function signIn(name: string, browser = new BrowserCookies()): Promise<RpcAnswer> {
  const { address, pageSecret } = await begin(browser);
  return finish(browser, pageSecret, await visit(browser, address, name));
}

/** Returns the headers of the page after its sign-in. */
function pageHeaders({ body }: RpcAnswer, browser: BrowserCookies): SentHeaders {
  const { pageKey } = z.object({ pageKey: z.string() }).parse(body);
  return { authorization: undefined, ...browser.sent('/page/api'), 'x-page-key': pageKey };
}

const get = async (path: string, headers: SentHeaders): Promise<number> =>
  (await request(server, { method: 'GET', path: `/page/api${path}`, headers })).status;

function messageIn({ body }: RpcAnswer): string {
  return z.object({ error: z.object({ message: z.string() }) }).parse(body).error.message;
}

/** Changes one parameter of the answer. */
function changed(query: string, name: string, value: string | undefined): string {
  const parameters = new URLSearchParams(query);
  if (value === undefined) parameters.delete(name);
  else parameters.set(name, value);
  return `?${parameters.toString()}`;
}

describe('a person who signs in with the provider', () => {
  beforeEach(() => start());

  test('gets a session with the principal, the roles and the groups of the claims', async () => {
    const offered = await request(server, {
      method: 'GET',
      path: '/page/provider',
      headers: { authorization: undefined },
    });
    expect(offered.body).toEqual({ name: new URL(provider.issuer).host });
    const browser = new BrowserCookies();
    const answer = await signIn('ann', browser);
    expect(answer.status).toBe(200);
    const cookies = answer.headers.getSetCookie();
    expect(cookies).toHaveLength(2);
    expect(cookies).toContainEqual(
      expect.stringMatching(
        /^approvals-[0-9a-f]{8}=[\w-]{43}; Path=\/page; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
      ),
    );
    const headers = pageHeaders(answer, browser);
    server.tasks.onSend = () => {
      throw new ProductError('SHUTTING_DOWN', 'the test needs no task');
    };
    await post('/page/api/message:send', userMessage('go'), headers);
    expect(server.tasks.received.at(-1)).toMatchObject({ principal: 'acme/ann', groups: ['release'] });
  });

  test('is asked by a request with PKCE, a state, a nonce and the exact redirect URI', async () => {
    const browser = new BrowserCookies();
    const { address } = await begin(browser);
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'page',
      redirect_uri: `${server.url}/page`,
      scope: 'openid profile email groups',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(address.searchParams.has('prompt')).toBe(false);
    const { address: other } = await begin(browser, { silent: true });
    expect(other.searchParams.get('prompt')).toBe('none');
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(other.searchParams.get(name)).not.toBe(address.searchParams.get(name));
  });

  test('keeps the session for the minutes of the settings, although the provider’s tokens last longer', async () => {
    const browser = new BrowserCookies();
    const headers = pageHeaders(await signIn('ann', browser), browser);
    server.clock.advance(30 * MINUTE_MS - 1);
    expect(await get('/tasks', headers)).toBe(200);
    server.clock.advance(1);
    expect(await get('/tasks', headers)).toBe(401);
  });

  test('signs in again without a question while the provider knows the person, and not after that', async () => {
    const browser = new BrowserCookies();
    await signIn('ann', browser);
    const again = await begin(browser, { silent: true });
    expect((await finish(browser, again.pageSecret, await visit(browser, again.address, ''))).status).toBe(
      200,
    );
    const stranger = new BrowserCookies();
    const asked = await begin(stranger, { silent: true });
    const answer = await finish(stranger, asked.pageSecret, await visit(stranger, asked.address, ''));
    expect(answer.status).toBe(401);
    expect(messageIn(answer)).toMatch(/^Your session has ended\. Sign in again at /);
  });

  test('signs out', async () => {
    const browser = new BrowserCookies();
    const headers = pageHeaders(await signIn('ann', browser), browser);
    expect((await post('/page/sign-out', {}, headers)).status).toBe(200);
    expect(await get('/tasks', headers)).toBe(401);
  });

  test('X1 has the rights of the claims only: without the role approve, no passkey can be registered', async () => {
    const browser = new BrowserCookies();
    const headers = pageHeaders(await signIn('rita', browser), browser);
    expect(await get('/tasks', headers)).toBe(200);
    const refused = await post('/page/api/passkeys/registration', { code: 'x' }, headers);
    expect(refused.status).toBe(403);
    expect(messageIn(refused)).toContain('approve');
  });

  test('X1 without a role, gets no session, and reads why', async () => {
    const answer = await signIn('guest');
    expect(answer.status).toBe(403);
    expect(messageIn(answer)).toMatch(/give your account no access\. Ask the operator\.$/);
    expect(answer.headers.getSetCookie().join()).not.toMatch(/approvals-[0-9a-f]{8}=/);
  });

  test('reads what to do after a refusal at the provider, and no text of the provider', async () => {
    const browser = new BrowserCookies();
    const { address, pageSecret } = await begin(browser);
    const answer = await finish(browser, pageSecret, await visit(browser, address, 'ann', 'refuse'));
    expect(answer.status).toBe(401);
    expect(messageIn(answer)).toMatch(/did not let you in, or you stopped there\. Sign in again, or ask/);
    expect(answer.text).not.toContain('refused</b>');
  });
});

test('a person who signs in reads to try again while the provider is away', async () => {
  const away = await startForgingProvider([]);
  await start({}, {}, { issuer: away.issuer });
  await away.stop();
  const answer = await post('/page/provider/start', {});
  expect(answer.status).toBe(503);
  expect(messageIn(answer)).toMatch(/does not answer\. Try again in a moment\.$/);
});

describe('X1 the server refuses an answer of the provider', () => {
  beforeEach(() => start());

  test.each([
    ['another state', 'state', 'x'.repeat(43)],
    ['no state', 'state', undefined],
    ['another issuer', 'iss', 'https://other.example.com'],
    ['no issuer, although the provider sends one', 'iss', undefined],
    ['another code', 'code', 'x'.repeat(43)],
  ])('with %s', async (_what, name, value) => {
    const browser = new BrowserCookies();
    const { address, pageSecret } = await begin(browser);
    const query = await visit(browser, address, 'ann');
    expect(new URLSearchParams(query).has(name)).toBe(true);
    const answer = await finish(browser, pageSecret, changed(query, name, value));
    expect(answer.status).toBe(401);
    expect(messageIn(answer)).toContain('Sign in again.');
    expect(answer.headers.getSetCookie().join()).not.toMatch(/approvals-[0-9a-f]{8}=/);
  });

  test.each([
    ['nonce', /does not belong to this sign-in/],
    ['code_challenge', /used up or too old/],
  ])('to a request with another %s', async (name, message) => {
    const browser = new BrowserCookies();
    const { address, pageSecret } = await begin(browser);
    address.searchParams.set(name, 'x'.repeat(43));
    const answer = await finish(browser, pageSecret, await visit(browser, address, 'ann'));
    expect(answer.status).toBe(401);
    expect(messageIn(answer)).toMatch(message);
  });

  test('whose code was used before', async () => {
    const browser = new BrowserCookies();
    const { address, pageSecret } = await begin(browser);
    const query = await visit(browser, address, 'ann');
    const copy = browser.copy();
    expect((await finish(browser, pageSecret, query)).status).toBe(200);
    const again = await finish(copy, pageSecret, query);
    expect(again.status).toBe(401);
    expect(messageIn(again)).toMatch(/used up or too old\. Sign in again\.$/);
  });

  test('in another browser, with another page secret, or after ten minutes', async () => {
    const browser = new BrowserCookies();
    const { address, pageSecret } = await begin(browser);
    const query = await visit(browser, address, 'ann');
    const other = new BrowserCookies();
    const own = await begin(other);
    // A page on another port can set the cookie, but not what the page has stored.
    const tries = [
      [new BrowserCookies(), pageSecret],
      [browser.copy(), own.pageSecret],
      [other.copy(), pageSecret],
    ] as const;
    for (const [jar, secret] of tries) {
      const answer = await finish(jar, secret, query);
      expect(answer.status).toBe(401);
      expect(messageIn(answer)).toMatch(/did not begin in this browser/);
    }
    // The attempt is the browser's own, and the answer is that of the other person: login CSRF.
    expect(messageIn(await finish(other, own.pageSecret, query))).toMatch(/does not belong to this sign-in/);
    server.clock.advance(SIGN_IN_ATTEMPT_MS);
    expect(messageIn(await finish(browser, pageSecret, query))).toMatch(/took longer than ten minutes/);
  });

  test('to a page of another origin; the request names no address to return to', async () => {
    for (const headers of [{ origin: 'https://evil.example' }, { origin: undefined }])
      for (const path of ['start', 'finish'])
        expect((await post(`/page/provider/${path}`, {}, headers)).status).toBe(403);
    const { port } = server;
    // `fetch` sends the Host header of its URL.
    const elsewhere = await fetch(`http://localhost:${port}/page/provider/start`, {
      method: 'POST',
      headers: { origin: `http://localhost:${port}` },
    });
    expect(elsewhere.status).toBe(403);
    expect(await elsewhere.text()).toContain(`works only at ${server.url}/page. Open that address.`);
    expect((await post('/page/provider/start', { returnTo: 'https://evil.example' })).status).toBe(400);
    const { address } = await begin(new BrowserCookies());
    address.searchParams.set('redirect_uri', 'https://evil.example/page');
    expect((await fetch(address, { redirect: 'manual' })).status).toBe(400);
  });
});

test('X1 an ID token with an algorithm outside the settings gives no session', async () => {
  await start({}, {}, { algorithms: ['ES256'] });
  const answer = await signIn('ann');
  expect(answer.status).toBe(401);
  expect(messageIn(answer)).toMatch(/does not belong to this sign-in/);
});

test('a confidential client with a wrong secret is refused; the person reads that the operator must act', async () => {
  await start(CONFIDENTIAL, { PAGE_SECRET: 'not-the-secret' });
  const answer = await signIn('ann');
  expect(answer.status).toBe(500);
  expect(messageIn(answer)).toMatch(
    /refuses the sign-in of this server \(invalid_client\)\. Only the operator/,
  );
  expect(server.logged()).not.toContain('not-the-secret');
});

test('X1 a confidential client signs in with its secret; the log has the principal, and no code, token or secret', async () => {
  await start(CONFIDENTIAL, { PAGE_SECRET: 'secret-of-the-page' });
  const browser = new BrowserCookies();
  const { address, pageSecret } = await begin(browser);
  const query = await visit(browser, address, 'ann');
  const answer = await finish(browser, pageSecret, query);
  expect(answer.status).toBe(200);
  expect(server.logged()).toContain('"principal":"acme/ann"');
  const { pageKey } = z.object({ pageKey: z.string() }).parse(answer.body);
  for (const secret of [
    'secret-of-the-page',
    pageKey,
    pageSecret,
    new URLSearchParams(query).get('code'),
    address.searchParams.get('state'),
  ])
    expect(server.logged()).not.toContain(secret);
});

test('without a client id, the page offers no sign-in', async () => {
  server = await startServer();
  const offered = await request(server, {
    method: 'GET',
    path: '/page/provider',
    headers: { authorization: undefined },
  });
  expect(offered.body).toEqual({ name: null });
  expect((await post('/page/provider/start', {})).status).not.toBe(200);
});
