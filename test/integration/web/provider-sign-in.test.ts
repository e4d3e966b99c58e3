/** Tests in a browser the sign-in with an OpenID Connect provider. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { A2aPeer } from '../../support/a2a-peer.ts';
import { plan, write } from '../../support/offline-plan.ts';
import {
  AUDIENCE,
  makeProviderKey,
  type RunningProvider,
  startProvider,
} from '../../support/openid-provider.ts';
import { passkeyLink } from '../../support/presence-stage.ts';
import { stage, type Stage } from '../../support/stage.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { issueToken } from '../../support/issue-token.ts';
import { describeInBrowser } from './support/in-browser.ts';

/** Lets the browser's sign-in with the provider look old enough for a silent one. */
const LONG_AGO = "localStorage.setItem('signed-in-with-provider', '0')";

describeInBrowser('the sign-in with a provider', (browser) => {
  let provider: RunningProvider;
  let on: Stage;
  let base: string;
  let page: Page;

  beforeEach(async () => {
    const port = await freePort();
    base = `http://localhost:${String(port)}`;
    provider = await startProvider({ keys: [await makeProviderKey('first')], redirectUri: `${base}/page` });
    const oidc = {
      issuer: provider.issuer,
      audience: AUDIENCE,
      tenant: { claim: 'team' },
      roles: [
        { claim: 'groups', value: 'developers', roles: ['delegate'] },
        { claim: 'groups', value: 'approvers', roles: ['approve'] },
      ],
      signIn: { clientId: 'page', name: 'Acme' },
    };
    const policy = [{ action: 'presence', path: 'secret.txt' }];
    // `passkey add` reads the same settings from the state directory.
    const place = await temporaryDirectory();
    const home = { stateDir: join(place, 'state'), workspace: join(place, 'workspace') };
    for (const directory of Object.values(home)) await mkdir(directory, { mode: 0o700 });
    const settings = { server: { oidc, policy, port, publicUrl: base } };
    await writeFile(join(home.stateDir, 'config.json'), JSON.stringify(settings));
    on = await stage({ home, args: ['--port', String(port)] });
    page = await browser.watchedPage();
  });
  afterEach(() => provider.stop());

  const button = (name: string) => page.getByRole('button', { name, exact: true });

  async function signInAs(name: string): Promise<void> {
    await button('Sign in with Acme').click();
    await page.getByLabel('Name').fill(name);
    await button('Enter').click();
  }

  test('a person signs in, comes back to the task that the address names, and approves it', async () => {
    const { taskId, peer } = await taskOfAnn();
    await page.goto(`${base}/page#task=${taskId}`);
    await signInAs('ann');
    await page.locator('section.action[data-seen="true"]').waitFor();
    expect(page.url()).toBe(`${base}/page#task=${taskId}`);
    await button('Approve').click();
    await page.locator('article .state-completed').waitFor();
    const { overview } = await peer.task(taskId);
    expect(overview.calls).toMatchObject([{ decided: { decision: 'approve', channel: 'page' } }]);
    await page.evaluate(LONG_AGO);
    await button('Sign out').click();
    // The provider still knows the person, but a sign-out lasts until the person signs in.
    await button('Sign in with Acme').waitFor();
    await page.reload();
    await button('Sign in with Acme').click();
    await button('Sign out').waitFor();
  });

  test('at the end of the session, the page asks the provider again, without a question to the person', async () => {
    const { taskId } = await taskOfAnn();
    await page.goto(`${base}/page#task=${taskId}`);
    await signInAs('ann');
    await button('Sign out').waitFor();
    await rm(join(on.server.stateDir, 'page-sessions'), { recursive: true });
    await page.evaluate(LONG_AGO);
    const asked = page.waitForRequest((request) => request.url().includes('prompt=none'));
    await page.reload();
    await asked;
    await page.locator('section.action').waitFor();
    expect(page.url()).toBe(`${base}/page#task=${taskId}`);
    // The browser reports the requests of the ended session.
    browser.problems.length = 0;
  });

  test('a person who has refused at the provider reads what to do, and can sign in again', async () => {
    await page.goto(`${base}/page`);
    await button('Sign in with Acme').click();
    await button('Refuse').click();
    await page.getByRole('alert').getByText('Acme did not let you in, or you stopped there.').waitFor();
    expect(page.url()).toBe(`${base}/page`);
    // The browser reports the refused request.
    browser.problems.length = 0;
    await signInAs('ann');
    await button('Sign out').waitFor();
  });

  test('X1 a link with an answer of another person’s sign-in signs nobody in', async () => {
    await page.goto(`${base}/page?code=x&state=y&iss=${encodeURIComponent(provider.issuer)}`);
    await page.getByRole('alert').getByText('This sign-in did not begin in this browser').waitFor();
    expect(page.url()).toBe(`${base}/page`);
    browser.problems.length = 0;
  });

  test('R120 a user of the provider registers a passkey with a link of the terminal', async () => {
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('WebAuthn.enable');
    await devTools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    const link = await passkeyLink(on, 'acme/ann');
    expect(new URLSearchParams(link.hash.slice(1)).has('code')).toBe(false);
    await page.goto(link.href);
    await signInAs('ann');
    const dialog = page.getByRole('dialog', { name: 'Passkeys' });
    await dialog.getByLabel('Name of the new passkey').fill('my laptop');
    await dialog.getByRole('button', { name: 'Add a passkey' }).click();
    await dialog.getByText('my laptop').waitFor();
    expect(page.url()).not.toContain('passkey');
  });

  /** Sends a task of the person, as the bridge does. */
  async function taskOfAnn() {
    const { url } = on.server;
    const peer = new A2aPeer({ url, token: await issueToken(on.server, 'ann') });
    const { taskId } = await peer.send(plan(write('a.txt', 'x'), { say: 'Done.' }));
    return { taskId, peer };
  }
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('there is no port');
  return address.port;
}
