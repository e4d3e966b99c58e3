/** Tests in a browser how a person registers a passkey and decides with it. The authenticator is Chromium's virtual one. */
import { beforeEach, expect, test } from '@jest/globals';
import type { CDPSession, Page, Route } from 'playwright-core';
import { plan, shell, write } from '../../support/offline-plan.ts';
import { passkeyLink } from '../../support/presence-stage.ts';
import { sharedStage, type PrincipalStage } from '../../support/shared-stage.ts';
import { signal } from '../../support/signal.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';

const POLICY = [
  { action: 'presence', path: 'secret.txt' },
  { action: 'presence', command: 'echo secret' },
];

describeInBrowser('an action that demands presence, on the page', (browser) => {
  let page: Page;
  let devTools: CDPSession;
  let authenticatorId: string;
  let on: PrincipalStage;
  beforeEach(async () => {
    on = await sharedStage({ policy: POLICY });
    page = await (await browser.newContext()).newPage();
    page.on('pageerror', (error) => browser.problems.push(error.message));
    devTools = await page.context().newCDPSession(page);
    await devTools.send('WebAuthn.enable');
    ({ authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    }));
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const state = (word: string): Promise<void> => page.locator(`article .state-${word}`).waitFor();

  async function register(): Promise<void> {
    await page.goto((await passkeyLink(on, on.principal)).href);
    await button('Sign in').click();
    const dialog = page.getByRole('dialog', { name: 'Passkeys' });
    await dialog.getByLabel('Name of the new passkey').fill('my laptop');
    await dialog.getByRole('button', { name: 'Add a passkey' }).click();
    await dialog.getByText('my laptop').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
  }

  /** Opens a task in the signed-in browser, at the address where passkeys work. */
  async function open(taskId: string): Promise<void> {
    await page.goto(new URL(`#task=${taskId}`, page.url()).href);
    await page.locator('section.action[data-seen="true"]').waitFor();
  }

  test('R120 a person registers a passkey with a link of the terminal, and approves with it; the code leaves the address', async () => {
    const { taskId } = await on.peer.send(plan(write('secret.txt', 'b'), { say: 'Done.' }));
    await register();
    expect(new URL(page.url())).toMatchObject({ hostname: 'localhost', search: '' });
    expect(page.url()).not.toContain('passkey');
    await open(taskId);
    // The page said before that the person has no passkey.
    await page.locator('.warning', { hasText: 'you have none' }).waitFor({ state: 'detached' });
    await page.getByText('needs your passkey').waitFor();
    expect(await page.getByLabel('Scope of the approval').count()).toBe(0);
    await button('Approve with passkey').click();
    await state('completed');
    expect(await on.file('secret.txt')).toBe('b');
    await page.locator('details', { hasText: 'secret.txt' }).locator('summary').click();
    await page.getByText('on an approval page with the passkey "my laptop"').waitFor();
  });

  test('R120 at 127.0.0.1 the page says where passkeys work, opens that address, and says how to add a passkey', async () => {
    const { taskId } = await on.peer.send(plan(write('secret.txt', 'b'), { say: 'Done.' }));
    await signIn(page, on.server, { taskId });
    await page.getByText(/only at http:\/\/localhost:\d+, not at http:\/\/127\.0\.0\.1/).waitFor();
    await button('Open this page there').click();
    await page.waitForURL(/^http:\/\/localhost:/);
    await button('Sign in').click();
    await page.locator('.warning', { hasText: 'a2a-server passkey add' }).waitFor();
    await page.locator('section.action[data-seen="true"]').waitFor();
    await button('Approve with passkey').click();
    await page.locator('.problem', { hasText: 'You have no passkey on this server.' }).waitFor();
    expect(await on.file('secret.txt')).toBeUndefined();
  });

  test('R120 without user verification nothing is decided, and the action still waits', async () => {
    await register();
    const { taskId } = await on.peer.send(plan(write('secret.txt', 'b'), { say: 'Done.' }));
    await open(taskId);
    await devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await button('Approve with passkey').click();
    await page.getByText('The passkey was not used').waitFor();
    expect((await on.peer.task(taskId)).state).toBe('INPUT_REQUIRED');
    await devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await button('Approve with passkey').click();
    await state('completed');
  });

  test('R120 an edit into a command that demands presence asks for the passkey', async () => {
    await register();
    const { taskId } = await on.peer.send(plan(shell('echo open > out.txt'), { say: 'Done.' }));
    await open(taskId);
    await button('Edit').click();
    await page.getByLabel('The edited input').fill('echo secret > out.txt');
    await button('Approve as edited').click();
    await state('completed');
    expect(await on.file('out.txt')).toBe('secret\n');
  });

  test('R120 the button that approves all actions is not there while one of them demands presence', async () => {
    await register();
    const { taskId } = await on.peer.send(
      plan({ together: [write('secret.txt', 'a'), write('open.txt', 'b')] }, { say: 'Done.' }),
    );
    await open(taskId);
    await page.getByRole('region', { name: /open\.txt/ }).waitFor();
    expect(await page.getByRole('button', { name: /^Approve all/ }).count()).toBe(0);
  });

  test('an older list of passkeys does not replace a newer one, and a newer one replaces an error', async () => {
    const { taskId } = await on.peer.send(plan(write('secret.txt', 'b')));
    await signIn(page, on.server);
    const list = { origin: on.server.url, passkeys: [] };
    const passkey = { id: 'a', name: 'my laptop', registeredAt: new Date(0).toISOString() };
    const requests: Route[] = [];
    const asked = [signal(), signal(), signal()];
    await page.route('**/page/api/passkeys', (route) => {
      asked[requests.length]?.happen();
      requests.push(route);
    });
    const changed = () => page.evaluate("window.dispatchEvent(new Event('passkeys-changed'))");
    const none = page.locator('.warning', { hasText: 'you have none' });
    await page.goto(new URL(`#task=${taskId}`, page.url()).href);
    await asked[0]?.happened;
    await changed();
    await asked[1]?.happened;
    await requests[1]?.fulfill({ status: 503, json: { error: { message: 'The server is busy.' } } });
    await page.locator('.problem', { hasText: 'The server is busy.' }).waitFor();
    await changed();
    await asked[2]?.happened;
    await requests[2]?.fulfill({ json: { ...list, passkeys: [passkey] } });
    await page.locator('.problem').waitFor({ state: 'detached' });
    const older = page.waitForEvent('requestfinished', (request) => request === requests[0]?.request());
    await requests[0]?.fulfill({ json: list });
    await older;
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
    expect(await none.count()).toBe(0);
  });

  test('a person removes a passkey', async () => {
    await register();
    await button('Passkeys').click();
    const dialog = page.getByRole('dialog', { name: 'Passkeys' });
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await dialog.getByRole('button', { name: 'Remove it' }).click();
    await dialog.getByText('You have no passkey on this server.').waitFor();
  });
});
