import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readClientSecret } from '../../../../a2a-server/access/client-secret.ts';
import {
  mayComeFromProvider,
  oidcSchema,
  type OidcSettings,
  providerName,
  requestedScopes,
} from '../../../../a2a-server/access/oidc-settings.ts';
import { redirectUriOf } from '../../../../a2a-server/page/provider-sign-in.ts';
import {
  signInAddressProblem,
  checkOidcSignInSettings,
} from '../../../../a2a-server/startup/check-oidc-sign-in-settings.ts';
import { configurationAuditAct } from '../../../../a2a-server/startup/audited-acts.ts';
import { readServerSettings } from '../../../../a2a-server/startup/settings/read-settings.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

function settings(signIn: object = {}, more: object = {}): OidcSettings {
  return oidcSchema.unwrap().parse({
    issuer: 'https://login.example.com/realm',
    audience: 'https://agents.example.com',
    tenant: { claim: 'team' },
    roles: [{ claim: 'groups', value: 'developers', roles: ['delegate'] }],
    signIn: { clientId: 'page', ...signIn },
    ...more,
  });
}

it.each([
  'https://agents.example.com/?a=b',
  'https://agents.example.com/#',
  'https://ann:x@agents.example.com',
])(
  'X1 the server does not start with the public URL %s, because the agent card would show it',
  async (publicUrl) => {
    await expect(readServerSettings({ publicUrl }, {})).rejects.toMatchObject({
      reason: 'CONFIGURATION',
      message: expect.stringContaining('without user, password, query and fragment'),
    });
  },
);

describe('the settings of the sign-in', () => {
  it('have defaults for a public client', () => {
    expect(settings().signIn).toEqual({
      clientId: 'page',
      clientAuthentication: 'client_secret_basic',
      sessionMinutes: 60,
    });
    expect(providerName(settings())).toBe('login.example.com');
    expect(providerName(settings({ name: 'Acme' }))).toBe('Acme');
  });

  it.each([
    [{ clientSecret: 'a-secret-in-the-file' }],
    [{ sessionMinutes: 4 }],
    [{ sessionMinutes: 1_441 }],
    [{ scopes: ['profile'] }],
    [{ scopes: ['openid', 'two words'] }],
    [{ redirectUri: 'https://evil.example' }],
  ])('refuse %j', (signIn) => {
    expect(() => settings(signIn)).toThrow();
  });

  it('request the scopes that the provider offers for the claims of the rules', () => {
    expect(requestedScopes(settings())).toEqual(['openid', 'profile', 'email']);
    const offered = ['openid', 'groups', 'team', 'payroll'];
    expect(requestedScopes(settings(), offered)).toEqual(['openid', 'profile', 'email', 'team', 'groups']);
    expect(requestedScopes(settings({ scopes: ['openid', 'a2a'] }), offered)).toEqual(['openid', 'a2a']);
  });

  it('say which principals the provider may have', () => {
    expect(mayComeFromProvider('acme/ann', settings())).toBe(true);
    expect(mayComeFromProvider('acme/ann', settings({}, { tenant: 'acme' }))).toBe(true);
    for (const [principal, tenant] of [
      ['beta/ann', 'acme'],
      ['ann', { claim: 'team' }],
      ['local', { claim: 'team' }],
      ['acme/a nn', { claim: 'team' }],
    ] as const)
      expect(mayComeFromProvider(principal, settings({}, { tenant }))).toBe(false);
  });
});

describe('the public address', () => {
  it.each(['https://agents.example.com', 'https://agents.example.com/a2a/', 'http://localhost:4000'])(
    'may be %s',
    (url) => expect(signInAddressProblem(url)).toBeUndefined(),
  );

  it.each([
    [undefined, /^needs the public address .*register <public-url>\/page as a redirect URI/],
    ['http://agents.example.com', /^needs https: .*--public-url is http:\/\/agents\.example\.com/],
  ])('%s stops the start', async (publicUrl, problem) => {
    expect(signInAddressProblem(publicUrl)).toMatch(problem);
    await expect(checkOidcSignInSettings({ oidc: settings(), publicUrl }, {})).rejects.toMatchObject({
      reason: 'CONFIGURATION',
      message: expect.stringContaining('Setting "oidc.signIn" needs'),
    });
  });

  it.each([
    ['https://agents.example.com', 'https://agents.example.com/page'],
    ['https://Agents.Example.com:443/a2a/', 'https://agents.example.com/a2a/page'],
  ])('%s gives the redirect URI %s', (url, expected) => expect(redirectUriOf(url)).toBe(expected));

  it('is not needed without a sign-in', async () => {
    const { signIn: _, ...oidc } = settings();
    await expect(checkOidcSignInSettings({ oidc, publicUrl: undefined }, {})).resolves.toBeUndefined();
  });
});

describe('the secret of the client', () => {
  it('comes from a variable, a file or a command', async () => {
    const file = join(await temporaryDirectory(), 'secret');
    await writeFile(file, 's3cret\n');
    expect(await readClientSecret({ file }, {})).toBe('s3cret');
    expect(await readClientSecret({ env: 'PAGE_SECRET' }, { PAGE_SECRET: 's3cret' })).toBe('s3cret');
    const program = join(await temporaryDirectory(), 'print');
    await writeFile(program, '#!/bin/sh\necho s3cret\n');
    await chmod(program, 0o700);
    expect(await readClientSecret({ command: [program] }, {})).toBe('s3cret');
  });

  it.each([
    [{ env: 'PAGE_SECRET' }, {}, /environment variable PAGE_SECRET is missing or empty/],
    [{ env: 'PAGE_SECRET' }, { PAGE_SECRET: 'two words' }, /contains spaces or special characters/],
    [{ file: '/nowhere/secret' }, {}, /\/nowhere\/secret/],
  ])(
    'stops the start if %j cannot be read, without the secret in the error',
    async (clientSecret, env, problem) => {
      const parts = { oidc: settings({ clientSecret }), publicUrl: 'https://agents.example.com' };
      const error: unknown = await checkOidcSignInSettings(parts, env).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reason: 'CONFIGURATION', message: expect.stringMatching(problem) });
      expect(String(error)).not.toContain('two words');
    },
  );

  it('X1 is not in the audit log, and neither is the command that prints it', async () => {
    const oidc = settings({ clientSecret: { command: ['vault', 'read', 'key-of-the-vault'] } });
    const act = configurationAuditAct('server.started', { ...(await readServerSettings({}, {})), oidc });
    expect(JSON.stringify(act)).toContain('"clientSecret":"configured"');
    expect(JSON.stringify(act)).not.toContain('vault');
  });
});
