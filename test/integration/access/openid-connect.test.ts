/** Tests tokens of an OpenID Connect provider, which runs in its own process. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { SignJWT, UnsecuredJWT } from 'jose';
import { z } from 'zod';
import { oidcSchema, type OidcSettings } from '../../../a2a-server/access/oidc-settings.ts';
import { createJwtAuthenticator, type AuthenticateJwt } from '../../../a2a-server/access/oidc-tokens.ts';
import { createServer } from 'node:http';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';
import {
  AUDIENCE,
  makeProviderKey,
  type ProviderKey,
  type RunningProvider,
  startProvider,
} from '../../support/openid-provider.ts';

let provider: RunningProvider;
let issuer: string;
let key: ProviderKey;
let refusals: string[];

async function start(port: number, ...keys: ProviderKey[]): Promise<void> {
  provider = await startProvider({ port, keys });
  ({ issuer } = provider);
}

beforeAll(async () => {
  key = await makeProviderKey('first');
});
beforeEach(() => {
  refusals = [];
});

function settings(more: object = {}): OidcSettings {
  const parsed = oidcSchema.parse({
    issuer,
    audience: AUDIENCE,
    tenant: { claim: 'team' },
    roles: [
      { claim: 'groups', value: 'developers', roles: ['delegate'] },
      { claim: 'groups', value: 'approvers', roles: ['approve', 'delegate'] },
    ],
    ...more,
  });
  if (parsed === undefined) throw new Error('there are no settings');
  return parsed;
}

const verifier = (more: object = {}, cooldownMs = 0): AuthenticateJwt =>
  createJwtAuthenticator({
    settings: settings(more),
    clock: systemClock,
    cooldownMs,
    onRefusal: (reason) => refusals.push(reason),
  });

/** Gets an access token of the provider. */
async function tokenOf(client: string): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client,
      client_secret: `secret of ${client}`,
      resource: AUDIENCE,
    }),
  });
  return z.object({ access_token: z.string() }).parse(await response.json()).access_token;
}

/** Signs a token as the provider would, with other claims. */
function signed(
  claims: { iss?: string; aud?: string; exp?: number; [claim: string]: unknown } = {},
  by = key,
): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const payload = {
    iss: issuer,
    aud: AUDIENCE,
    sub: 'ann',
    exp: now + 60,
    team: 'acme',
    groups: 'developers',
  };
  return new SignJWT({ ...payload, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: by.id })
    .sign(by.privateKey);
}

const REFUSED = { reason: 'UNAUTHENTICATED' };

describe('a token of an OpenID Connect provider', () => {
  // One provider for all these tests, because its start takes longer than most of them.
  beforeAll(() => start(0, key));
  afterAll(() => provider.stop());

  test('gives the principal, the tenant and the roles of its claims, until it expires', async () => {
    const identity = await verifier()(await tokenOf('ann'));
    expect(identity).toMatchObject({ principal: 'acme/ann', roles: ['delegate', 'approve'] });
    expect(identity.expiresAt).toBeGreaterThan(Date.now());
    expect(identity.expiresAt).toBeLessThan(Date.now() + 11 * 60_000);
  });

  test('R121 gives the groups of its claims, and none without a rule', async () => {
    const groups = [
      { claim: 'groups', value: 'approvers', groups: ['release', 'docs'] },
      { claim: 'groups', value: 'developers', groups: ['docs'] },
      { claim: 'groups', value: 'admins', groups: ['security'] },
    ];
    expect(await verifier({ groups })(await tokenOf('ann'))).toMatchObject({ groups: ['release', 'docs'] });
    expect(await verifier()(await tokenOf('ann'))).toMatchObject({ groups: [] });
    expect(() => settings({ groups: [{ claim: 'groups', value: 'a', groups: ['a b'] }] })).toThrow();
  });

  test('X1 without a rule for its claims, it gives no access', async () => {
    await expect(verifier()(await tokenOf('guest'))).rejects.toMatchObject(REFUSED);
  });

  test('X1 the claim of the principal cannot name another tenant', async () => {
    const verify = verifier({ principalClaim: 'name' });
    for (const name of ['beta/ann', '', 7, undefined])
      await expect(verify(await signed({ name }))).rejects.toMatchObject(REFUSED);
  });

  test('X1 another issuer, another audience, an expired token and a token without an end are refused', async () => {
    const verify = verifier();
    const seconds = Math.floor(Date.now() / 1_000);
    expect(await verify(await signed())).toMatchObject({ principal: 'acme/ann' });
    const noEnd = await new SignJWT({
      iss: issuer,
      aud: AUDIENCE,
      sub: 'ann',
      team: 'acme',
      groups: 'developers',
    })
      .setProtectedHeader({ alg: 'RS256', kid: key.id })
      .sign(key.privateKey);
    for (const token of [
      await signed({ iss: 'https://other.example.com' }),
      await signed({ aud: 'https://other.example.com' }),
      await signed({ exp: seconds - 60 }),
      noEnd,
    ])
      await expect(verify(token)).rejects.toMatchObject(REFUSED);
  });

  test('the clocks may differ by the clock skew, and not by more', async () => {
    const token = await signed({ exp: Math.floor(Date.now() / 1_000) - 20 });
    expect(await verifier({ clockSkew: 60 })(token)).toMatchObject({ principal: 'acme/ann' });
    await expect(verifier({ clockSkew: 5 })(token)).rejects.toMatchObject(REFUSED);
    expect(oidcSchema.safeParse({ ...settings(), clockSkew: 61 }).success).toBe(false);
  });

  test('X1 the algorithms none and HS256, and algorithms outside the settings, are refused', async () => {
    const payload = { iss: issuer, aud: AUDIENCE, sub: 'ann', team: 'acme', groups: 'developers' };
    const unsecured = new UnsecuredJWT(payload).setExpirationTime('1m').encode();
    // The known attack: the public key as the secret of an HMAC.
    const { d: _, p: __, ...publicJwk } = key.jwk;
    const hmac = await new SignJWT(payload)
      .setProtectedHeader({ alg: 'HS256', kid: key.id })
      .setExpirationTime('1m')
      .sign(new TextEncoder().encode(JSON.stringify(publicJwk)));
    for (const token of [unsecured, hmac]) await expect(verifier()(token)).rejects.toMatchObject(REFUSED);
    await expect(verifier({ algorithms: ['ES256'] })(await signed())).rejects.toMatchObject(REFUSED);
    for (const algorithm of ['none', 'HS256'])
      expect(oidcSchema.safeParse({ ...settings(), algorithms: [algorithm] }).success).toBe(false);
  });

  test('X1 a key that the provider does not publish is refused, also under a known id', async () => {
    const other = { ...(await makeProviderKey('first')), id: 'first' };
    await expect(verifier()(await signed({}, other))).rejects.toMatchObject(REFUSED);
  });

  test('X1 no refusal names the token', async () => {
    const token = await signed({ aud: 'other' });
    await expect(verifier()(token)).rejects.toMatchObject(REFUSED);
    expect(refusals).toHaveLength(1);
    expect(refusals.join()).not.toContain(token.slice(-20));
  });
});

const publicJwk = ({ jwk: { kty, n, e, kid, alg, use } }: ProviderKey) => ({ kty, n, e, kid, alg, use });

test('after the provider has moved its keys to another address, the new keys count, and the old ones do not', async () => {
  const [old, moved] = [key, await makeProviderKey('second')];
  let place = '/old';
  const published: Record<string, ProviderKey> = { '/old': old, '/moved': moved };
  const server = createServer((request, response) => {
    const at = published[request.url ?? ''];
    if (at === undefined) response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}${place}` }));
    else if (request.url !== place) response.writeHead(404).end();
    else response.end(JSON.stringify({ keys: [publicJwk(at)] }));
  });
  const { host, close } = await listenOnLoopback(server);
  issuer = `http://${host}`;
  const clock = new FakeClock();
  const verify = createJwtAuthenticator({ settings: settings(), clock, onRefusal: () => undefined });
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  expect(await verify(await signed({ exp }, old))).toMatchObject({ principal: 'acme/ann' });
  place = '/moved';
  clock.advance(11 * 60_000);
  expect(await verify(await signed({ exp }, moved))).toMatchObject({ principal: 'acme/ann' });
  await expect(verify(await signed({ exp }, old))).rejects.toMatchObject(REFUSED);
  await close();
  clock.advance(11 * 60_000);
  expect(await verify(await signed({ exp }, moved))).toMatchObject({ principal: 'acme/ann' });
});

test('a new key counts at once, also soon after a token with an unknown key id; such tokens cause few reads', async () => {
  const [made, other] = [await makeProviderKey('made-up'), await makeProviderKey('second')];
  const published = [publicJwk(key)];
  let reads = 0;
  const server = createServer((request, response) => {
    if (request.url === '/keys') reads += 1;
    response.end(
      JSON.stringify(request.url === '/keys' ? { keys: published } : { issuer, jwks_uri: `${issuer}/keys` }),
    );
  });
  const { host, close } = await listenOnLoopback(server);
  issuer = `http://${host}`;
  const clock = new FakeClock();
  const verify = createJwtAuthenticator({ settings: settings(), clock, onRefusal: () => undefined });
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  const refused = async (): Promise<void> =>
    expect(verify(await signed({ exp }, made))).rejects.toMatchObject(REFUSED);
  await verify(await signed({ exp }));
  await refused();
  published.push(publicJwk(other));
  expect(await verify(await signed({ exp }, other))).toMatchObject({ principal: 'acme/ann' });
  for (let times = 0; times < 10; times += 1) await refused();
  expect(reads).toBe(6);
  clock.advance(6_000);
  for (let times = 0; times < 10; times += 1) await refused();
  expect(reads).toBe(7);
  await close();
});

describe('a token of an OpenID Connect provider that stops', () => {
  beforeEach(() => start(0, key));
  afterEach(() => provider.stop());

  test('after the provider has rotated its key, the new key counts, and the old one does not', async () => {
    const verify = verifier();
    const before = await tokenOf('ann');
    expect(await verify(before)).toMatchObject({ principal: 'acme/ann' });
    await provider.stop();
    await start(Number(new URL(issuer).port), await makeProviderKey('second'));
    expect(await verify(await tokenOf('ann'))).toMatchObject({ principal: 'acme/ann' });
    await expect(verify(before)).rejects.toMatchObject(REFUSED);
  });

  test('while the provider is away, known keys still count, and an unknown state asks to try again', async () => {
    const verify = verifier({}, 60_000);
    const token = await tokenOf('ann');
    await verify(token);
    await provider.stop();
    expect(await verify(token)).toMatchObject({ principal: 'acme/ann' });
    const fresh = verifier();
    await expect(fresh(token)).rejects.toMatchObject({ reason: 'OVERLOADED' });
    await start(Number(new URL(issuer).port), key);
    expect(await fresh(token)).toMatchObject({ principal: 'acme/ann' });
  });
});
