/** Tests in a browser the sign-in with an OpenID Connect provider. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { A2aPeer } from '../../support/a2a-peer.ts';
import { freePort } from '../../support/free-port.ts';
import { plan, write } from '../../support/offline-plan.ts';
import {
  AUDIENCE,
  makeProviderKey,
  type RunningProvider,
  startProvider,
} from '../../support/openid-provider.ts';
import { passkeyLink } from '../../support/presence-stage.ts';
import {
  homeDirectoryOf,
  launchServer,
  newServerHome,
  type ServerHome,
} from '../../support/server-program.ts';
import { signal } from '../../support/signal.ts';
import { stageOf } from '../../support/stage.ts';
import { issueToken } from '../../support/issue-token.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';

/** Lets the provider's session in this browser look as if it has lasted to its end. */
const SESSION_IS_OVER = "localStorage.setItem('provider-session-end', new Date(0).toISOString())";

describeInBrowser('the sign-in with a provider', (browser) => {
  let provider: RunningProvider;
  let on: ReturnType<typeof stageOf<ServerHome & { url: string; token: string }>>;
  let end: () => Promise<void>;
  let base: string;
  let page: Page;
  let people = 0;
  /** A person whom no other test signs in. */
  let person: string;

  beforeAll(async () => {
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
    const home = await newServerHome();
    const settings = { server: { oidc, policy, port, publicUrl: base } };
    await writeFile(join(home.stateDir, 'config.json'), JSON.stringify(settings));
    const server = launchServer({ home, args: ['--port', String(port)] });
    end = async () => {
      await Promise.all([server.kill(), provider.stop()]);
      await rm(homeDirectoryOf(home), { recursive: true, force: true });
    };
    on = stageOf({ ...home, ...(await server.ready) });
  });
  afterAll(() => end());
  beforeEach(async () => {
    people += 1;
    person = `ann-${String(people)}`;
    page = await browser.watchedPage();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });

  async function signInAs(name: string, tab = page): Promise<void> {
    await tab.getByRole('button', { name: 'Sign in with Acme' }).click();
    await tab.getByLabel('Name').fill(name);
    await tab.getByRole('button', { name: 'Enter' }).click();
  }

  test('a person signs in, comes back to the task that the address names, and approves it', async () => {
    const { taskId, peer } = await taskOfPerson();
    await page.goto(`${base}/page#task=${taskId}`);
    await signInAs(person);
    await page.locator('section.action[data-seen="true"]').waitFor();
    expect(page.url()).toBe(`${base}/page#task=${taskId}`);
    await page.getByText(`Signed in as acme/${person}`, { exact: true }).waitFor();
    await button('Approve').click();
    await page.locator('article .state-completed').waitFor();
    const { overview } = await peer.task(taskId);
    expect(overview.calls).toMatchObject([{ decided: { decision: 'approve', channel: 'page' } }]);
    await page.evaluate(SESSION_IS_OVER);
    await button('Sign out').click();
    // The provider still knows the person, but a sign-out lasts until the person signs in.
    await button('Sign in with Acme').waitFor();
    // The browser reports a request that was on its way at the sign-out, such as the one for the costs.
    const others = browser.problems.filter((problem) => !problem.includes('status of 401'));
    browser.problems.splice(0, Infinity, ...others);
    await page.reload();
    await button('Sign in with Acme').click();
    await button('Sign out').waitFor();
  });

  test('at the end of the session, the page asks the provider again, without a question to the person', async () => {
    const { taskId } = await taskOfPerson();
    await page.goto(`${base}/page#task=${taskId}`);
    await signInAs(person);
    await button('Sign out').waitFor();
    await page.evaluate(SESSION_IS_OVER);
    await page.goto('about:blank');
    await endSessions();
    const asked = page.waitForRequest((request) => request.url().includes('prompt=none'));
    await page.goto(`${base}/page#task=${taskId}`);
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
    await signInAs(person);
    await button('Sign out').waitFor();
  });

  test('a person who goes back from the provider without an answer can sign in again', async () => {
    await page.goto(`${base}/page`);
    await button('Sign in with Acme').click();
    await page.getByLabel('Name').waitFor();
    await page.goBack();
    await signInAs(person);
    await button('Sign out').waitFor();
  });

  test('a page that a browser restores as it was left offers the sign-in again', async () => {
    await page.goto(`${base}/page`);
    // After an answer without content, the browser stays on the page.
    await page.route(`${provider.issuer}/**`, (route) => route.fulfill({ status: 204 }));
    await button('Sign in with Acme').click();
    await page.getByText('Signing in …').waitFor();
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    await button('Sign in with Acme').waitFor();
  });

  test('a page whose stored sign-in is damaged removes it, and offers the sign-in again', async () => {
    await page.goto(`${base}/page`);
    await page.evaluate("localStorage.setItem('provider-sign-in', '{')");
    await page.goto(`${base}/page?code=x&state=y`);
    await page.getByRole('alert').getByText('This sign-in did not begin in this browser').waitFor();
    expect(await page.evaluate("localStorage.getItem('provider-sign-in')")).toBeNull();
    await signInAs(person);
    await button('Sign out').waitFor();
  });

  test('X1 a link with an answer of another person’s sign-in signs nobody in', async () => {
    await page.goto(`${base}/page?code=x&state=y&iss=${encodeURIComponent(provider.issuer)}`);
    await page.getByRole('alert').getByText('This sign-in did not begin in this browser').waitFor();
    expect(page.url()).toBe(`${base}/page`);
  });

  test('R120 a user of the provider registers a passkey with a link of the terminal', async () => {
    await addAuthenticator();
    const link = await passkeyLink(on, `acme/${person}`);
    expect(new URLSearchParams(link.hash.slice(1)).has('code')).toBe(false);
    await page.goto(link.href);
    await signInAs(person);
    await addPasskey('my laptop');
    expect(page.url()).not.toContain('passkey');
  });

  test('X1 a browser that another one has signed out does not sign in again by itself', async () => {
    const minuteMs = 60_000;
    const start = Date.now();
    await page.clock.setSystemTime(start);
    await page.goto(`${base}/page`);
    await signInAs(person);
    await button('Sign out').waitFor();
    await page.clock.setSystemTime(start + 5 * minuteMs);
    const other = await browser.watchedPage();
    await other.goto(`${base}/page`);
    await signInAs(person, other);
    const silent: string[] = [];
    page.on('request', (request) => request.url().includes('prompt=none') && silent.push(request.url()));
    await other.getByRole('button', { name: 'Sign out everywhere' }).click();
    await button('Sign in with Acme').waitFor();
    await page.reload();
    await button('Sign in with Acme').waitFor();
    expect(silent).toEqual([]);
    browser.problems.length = 0;
  });

  test('after a sign-in with a link, the page does not sign in with the provider by itself', async () => {
    await page.goto(`${base}/page`);
    await signInAs(person);
    await button('Sign out').waitFor();
    await page.goto('about:blank');
    await endSessions();
    await signIn(page, on.server);
    await page.evaluate(`if (localStorage.getItem('provider-session-end') !== null) ${SESSION_IS_OVER}`);
    await page.goto('about:blank');
    await endSessions();
    await page.goto(`${base}/page`);
    await button('Sign in with Acme').waitFor();
    browser.problems.length = 0;
  });

  test('a sign-in in another tab, or a link of another site, does not end the sign-in that began last', async () => {
    await page.goto(`${base}/page`);
    await button('Sign in with Acme').click();
    const later = await page.context().newPage();
    await later.goto(`${base}/page`);
    await later.getByRole('button', { name: 'Sign in with Acme' }).click();
    await later.getByLabel('Name').waitFor();
    await page.getByLabel('Name').fill(person);
    await button('Enter').click();
    await page.getByRole('alert').getByText('This sign-in did not begin in this browser').waitFor();
    await page.goto(`${base}/page?code=x&state=y`);
    await page.getByRole('alert').getByText('This sign-in did not begin in this browser').waitFor();
    await later.getByLabel('Name').fill(person);
    await later.getByRole('button', { name: 'Enter' }).click();
    await later.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
    // The other tab sees the new session.
    await button('Sign out').waitFor();
    browser.problems.length = 0;
  });

  test('X1 another user cannot use the link that registers a passkey, and does not use it up', async () => {
    await addAuthenticator();
    const link = await passkeyLink(on, `acme/${person}`);
    const refused = signal();
    const old = { id: 'old', name: 'an old one', registeredAt: new Date(0).toISOString() };
    await page.route('**/passkeys', async (route) => {
      await refused.happened;
      await route.fulfill({ json: { passkeys: [old] } });
    });
    await page.goto(link.href);
    await signInAs('bob');
    const dialog = page.getByRole('dialog', { name: 'Passkeys' });
    await dialog.getByLabel('Name of the new passkey').fill('of bob');
    await dialog.getByRole('button', { name: 'Add a passkey' }).click();
    const refusal = dialog.getByRole('alert').getByText('This link for a passkey is used up');
    await refusal.waitFor();
    // The list of the passkeys comes late, and does not erase the refusal.
    refused.happen();
    await dialog.getByText(old.name).waitFor();
    expect(await refusal.isVisible()).toBe(true);
    browser.problems.length = 0;
    // Another browser has no session of the provider.
    page = await browser.watchedPage();
    await addAuthenticator();
    await page.goto(link.href);
    await signInAs(person);
    await addPasskey('of ann');
  });

  const endSessions = (): Promise<void> => rm(join(on.server.stateDir, 'page-sessions'), { recursive: true });

  async function addAuthenticator(): Promise<void> {
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
  }

  async function addPasskey(name: string): Promise<void> {
    const dialog = page.getByRole('dialog', { name: 'Passkeys' });
    await dialog.getByLabel('Name of the new passkey').fill(name);
    await dialog.getByRole('button', { name: 'Add a passkey' }).click();
    await dialog.getByText(name).waitFor();
  }

  /** Sends a task of the person, as the bridge does. */
  async function taskOfPerson() {
    const { url } = on.server;
    const peer = new A2aPeer({ url, token: await issueToken(on.server, person) });
    const { taskId } = await peer.send(plan(write('a.txt', 'x'), { say: 'Done.' }));
    return { taskId, peer };
  }
});
