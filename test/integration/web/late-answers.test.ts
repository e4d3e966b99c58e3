/** Tests in a browser that the page shows no wrong picture if an answer arrives late, or not at all. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import type { Locator, Page, Route } from 'playwright-core';
import type { CostReport } from '../../../shared/protocol/cost-report.ts';
import { decisionOn } from '../../support/a2a-message.ts';
import { makeGate } from '../../support/gate.ts';
import { plan, shell, write } from '../../support/offline-plan.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { signal } from '../../support/signal.ts';
import { stage } from '../../support/stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { makeLink, signIn } from './support/sign-in.ts';

/** Resolves when the page has scrolled down. */
const SCROLLED = `new Promise((resolve) => {
  const check = () => (window.scrollY > 1_000 ? resolve() : setTimeout(check, 20));
  check();
})`;

describeInBrowser('an answer that arrives late', (browser) => {
  let page: Page;
  let on: SharedStage;
  beforeEach(async () => {
    on = await sharedStage();
    page = await (await browser.newContext()).newPage();
  });

  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const ended = (): Locator => page.getByRole('region', { name: 'Ended', exact: true });

  /** Holds the requests for this address until `release`. `begun` resolves at the first one. */
  async function held(address: string): Promise<{ begun: Promise<void>; release: () => void }> {
    const [begun, released] = [signal(), signal()];
    await page.route(address, async (route) => {
      begun.happen();
      await released.happened;
      await route.continue();
    });
    return { begun: begun.happened, release: released.happen };
  }
  /** Resolves after the scripts of the page have handled the answers that have arrived. */
  const handled = async (): Promise<void> => {
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
  };

  test('after a short outage, the page of a waiting task no longer says that it has no connection', async () => {
    const own = await stage();
    const { taskId } = await own.peer.send(plan(write('a.md', 'x'), { say: 'Written.' }));
    // The outage begins with the answer about the task's directory.
    await page.route('**/tasks/*?historyLength=0', (route) => route.abort());
    await signIn(page, own.server, { taskId });
    await button('Approve').waitFor();
    const about = page.getByRole('region', { name: 'About this task' });
    expect(await about.getByText('Directory').count()).toBe(0);
    await page.unroute('**/tasks/*?historyLength=0');
    const { port } = new URL(own.server.url);
    await own.server.stop();
    await page.getByRole('status').getByText('No connection since').waitFor();
    const next = await stage({ home: own.server, args: ['--port', port] });
    // The client has not given up yet. The task waits, so its new stream has no event.
    await page.getByRole('status').waitFor({ state: 'detached' });
    await about.getByText('Directory').waitFor();
    expect((await next.peer.task(taskId)).state).toBe('INPUT_REQUIRED');
  });

  test('the page never shows the decision on one action as the decision on another', async () => {
    const { taskId, pending } = await on.peer.send(
      plan({ together: [write('a.md', 'x'), write('b.md', 'x')] }, { say: 'Done.' }),
    );
    const [a, b] = pending;
    if (a === undefined || b === undefined) throw new Error('two actions wait');
    const decisions = [decisionOn([a], 'deny'), decisionOn([b], 'approve')];
    await (await on.peer.decide(taskId, decisions)).rest();
    await signIn(page, on.server, { taskId, callId: a.callId });
    await page.getByText(/^Denied by/).waitFor();
    const { begun, release } = await held('**/page/api/tasks/*');
    await page.goto(`${on.server.url}/page#task=${taskId}&call=${b.callId}`);
    await begun;
    await page.getByText(/^Denied by/).waitFor({ state: 'detached' });
    release();
    await page.getByText(/^Approved by/).waitFor();
  });

  test('a refusal of an ended sign-in does not end the next sign-in of the browser', async () => {
    await on.peer.send('paint the moon');
    await signIn(page, on.server);
    await ended().locator('a').waitFor();
    let refuse: Route | undefined;
    const begun = signal();
    const hold = (route: Route): void => {
      refuse = route;
      begun.happen();
    };
    await page.route('**/task-groups?*', hold, { times: 1 });
    await on.peer.send('paint the sun');
    await begun.happened;
    const tab = await page.context().newPage();
    await tab.goto(`${on.server.url}/page`);
    await tab.getByRole('button', { name: 'Sign out', exact: true }).click();
    await tab.getByText('mcp-a2a-bridge page').waitFor();
    await page.getByText('mcp-a2a-bridge page').waitFor();
    await signIn(tab, on.server);
    await button('Sign out').waitFor();
    const refused = page.waitForEvent('requestfinished', (request) => request === refuse?.request());
    await refuse?.fulfill({ status: 401, json: {} });
    await refused;
    await handled();
    await tab.reload();
    await tab.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
  });

  test('an older answer about the costs of the day does not replace a newer one', async () => {
    let older: Route | undefined;
    await page.route('**/api/costs?*', (route) => {
      if (older === undefined) older = route;
      else return route.fulfill({ json: costs(2) });
      return undefined;
    });
    await signIn(page, on.server);
    await page.getByText('No task has ended yet.').waitFor();
    await on.peer.send('paint the moon');
    await page.getByText('Today (UTC): $2.00').waitFor();
    const answered = page.waitForEvent('requestfinished', (request) => request === older?.request());
    await older?.fulfill({ json: costs(1) });
    await answered;
    await handled();
    await page.getByText('Today (UTC): $2.00').waitFor();
  });

  test('tasks that "Show more" has brought stay when an older list arrives after them', async () => {
    for (let n = 1; n <= 60; n += 1) await on.peer.send(`paint moon ${n}`);
    await signIn(page, on.server);
    await ended().getByRole('button', { name: 'Show more (10)' }).waitFor();
    const [begun, release] = [signal(), signal()];
    await page.route(
      '**/task-groups?*',
      async (route) => {
        const response = await route.fetch();
        begun.happen();
        await release.happened;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await on.peer.send('paint the last moon');
    await begun.happened;
    await ended().getByRole('button', { name: 'Show more (10)' }).click();
    await ended().locator('a').nth(59).waitFor({ state: 'attached' });
    release.happen();
    await ended().getByText('paint the last moon').waitFor();
    expect(await ended().locator('a').count()).toBe(61);
  });

  test('a task that has ended meanwhile is not listed as waiting when an older page of "Show more" arrives', async () => {
    const sent = [];
    for (let n = 1; n <= 51; n += 1) sent.push(await on.peer.send(plan(write('a.md', `${n}`))));
    await signIn(page, on.server);
    const waiting = page.getByRole('region', { name: 'Waits for you', exact: true });
    const [begun, release] = [signal(), signal()];
    let older = '';
    await page.route(
      '**/task-groups/waiting?*',
      async (route) => {
        const response = await route.fetch();
        older = await response.text();
        begun.happen();
        await release.happened;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await waiting.getByRole('button', { name: 'Show more (1)' }).click();
    await begun.happened;
    const last = sent.find(({ taskId }) => older.includes(taskId));
    if (last === undefined) throw new Error('the page has a task');
    await (await on.peer.decide(last.taskId, [decisionOn(last.pending, 'deny')])).rest();
    await ended().locator('a').waitFor();
    const answered = page.waitForEvent('requestfinished', (each) => each.url().includes('/waiting?'));
    release.happen();
    await answered;
    await handled();
    expect(await page.locator(`[data-task="${last.taskId}"]`).count()).toBe(1);
    expect(await waiting.locator('a').count()).toBe(50);
  });

  test('the error of "Show more" stays until the person presses it again', async () => {
    for (let n = 1; n <= 60; n += 1) await on.peer.send(`paint moon ${n}`);
    await signIn(page, on.server);
    const refusal = { error: { message: 'This page of the list is gone.' } };
    await page.route('**/task-groups/ended?*', (route) => route.fulfill({ status: 400, json: refusal }), {
      times: 1,
    });
    await ended().getByRole('button', { name: 'Show more (10)' }).click();
    await page.getByRole('alert').getByText('This page of the list is gone.').waitFor();
    await on.peer.send('paint the last moon');
    await ended().getByText('paint the last moon').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    await ended()
      .getByRole('button', { name: /^Show more/ })
      .click();
    await ended().locator('a').nth(60).waitFor({ state: 'attached' });
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('if the request for an older filter fails, the list still answers the newer one', async () => {
    page = await browser.watchedPage();
    await on.peer.send('paint the moon');
    await on.peer.send('paint the sun');
    await signIn(page, on.server);
    await ended().locator('a').nth(1).waitFor();
    const [begun, release] = [signal(), signal()];
    await page.route('**/task-groups?text=moon', async (route) => {
      begun.happen();
      await release.happened;
      await route.fulfill({ status: 503, json: {} });
    });
    await page.getByLabel('Search the tasks').fill('moon');
    await begun.happened;
    await page.getByLabel('Search the tasks').fill('sun');
    // The page reads the list after a pause in typing.
    await page.clock.runFor(1_000);
    release.happen();
    await ended().getByText('paint the moon').waitFor({ state: 'detached' });
    await ended().getByText('paint the sun').waitFor();
    // The browser logs the refused request.
    browser.problems.length = 0;
  });

  test('after a failed request, the list tries again by itself, as it says', async () => {
    page = await browser.watchedPage();
    await signIn(page, on.server);
    await page.getByText('No task has ended yet.').waitFor();
    // On a busy machine, the stream of changes may open now, and the page reads the list again for it.
    await page.route('**/task-groups?*', (route) => route.fulfill({ status: 502, json: {} }));
    // The person comes back to the page. No task changes, so the stream of changes is silent.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText('The page tries again by itself.').waitFor();
    await page.unroute('**/task-groups?*');
    await page.clock.runFor(5_000);
    await page.getByText('The page tries again by itself.').waitFor({ state: 'detached' });
    // The browser logs the failed request.
    browser.problems.length = 0;
  });

  test('after failed requests, the story of an ended task is read again, although the task has no further event', async () => {
    const { taskId } = await on.peer.send('say The end.');
    page = await browser.watchedPage();
    await page.route('**/story?*', (route) => route.fulfill({ status: 502, json: {} }));
    const refused = page.waitForResponse((response) => response.status() === 502);
    await signIn(page, on.server, { taskId });
    await refused;
    await page.locator('article .state-completed').waitFor();
    // The reads that the first events have caused.
    await page.clock.runFor(1_000);
    await handled();
    await page.unroute('**/story?*');
    await page.clock.runFor(5_000);
    await page.getByLabel('Text of the agent').getByText('The end.').waitFor();
    // The browser logs the failed request.
    browser.problems.length = 0;
  });

  test('the form for an edit does not take the focus from where the person has gone meanwhile', async () => {
    const input = { path: 'a.md', oldText: 'one', newText: 'two' };
    await writeFile(join(on.server.workspace, 'a.md'), 'one\n');
    const { taskId } = await on.peer.send(plan({ tool: 'edit-file', input }));
    await signIn(page, on.server, { taskId });
    const { begun, release } = await held('**/input-schema');
    await button('Edit').click();
    await begun;
    await page.getByLabel('Search the tasks').focus();
    release();
    await button('Approve as edited').waitFor();
    await handled();
    expect(await page.getByLabel('Search the tasks').and(page.locator(':focus')).count()).toBe(1);
  });

  test('while the server checks a link, the page does not say that the browser is not signed in', async () => {
    await page.goto(await makeLink(on.server));
    const { begun, release } = await held('**/page/session');
    await button('Sign in').click();
    await begun;
    await page.getByText('Signing in …').waitFor();
    expect(await page.getByText('This browser is not signed in.').count()).toBe(0);
    release();
    await button('Sign out').waitFor();
  });

  test('the form for a new task stays open while the person writes in it', async () => {
    await signIn(page, on.server);
    await page.getByText('Start a task').click();
    const text = page.getByLabel('The task for the agent');
    await text.fill('say hello');
    const { begun, release } = await held('**/message:stream');
    await button('Send').click();
    await begun;
    await text.pressSequentially(' to Jane');
    release();
    await page.getByRole('heading', { name: 'say hello' }).waitFor();
    await text.pressSequentially(' and Jack');
    expect(await text.inputValue()).toBe('say hello to Jane and Jack');
  });

  test('a message that the server has accepted is not offered again after the person has looked at another task', async () => {
    const gate = await makeGate(on.server.workspace);
    const { taskId } = await on.peer.send(plan(shell(gate.wait)));
    const other = await on.peer.send('paint the moon');
    await signIn(page, on.server, { taskId });
    await button('Approve').click();
    const message = page.getByLabel('Message to the agent');
    await message.fill('and one more thing');
    const { begun, release } = await held('**/message:send');
    await button('Send the message').click();
    await begun;
    const open = (id: string): Promise<void> => page.locator(`nav a[href="#task=${id}"]`).click();
    await open(other.taskId);
    await page.locator('article .state-rejected').waitFor();
    await open(taskId);
    await message.waitFor();
    expect(await message.inputValue()).toBe('and one more thing');
    expect(await button('Send the message').isDisabled()).toBe(true);
    release();
    await page.locator('textarea[aria-label="Message to the agent"]:placeholder-shown').waitFor();
    await gate.pass();
    await page.getByRole('region', { name: 'Story' }).getByText('and one more thing').waitFor();
  });

  test('the problem of a limit goes away when the person sends a valid one', async () => {
    const { taskId } = await on.peer.send(plan(write('a.md', 'x')));
    await signIn(page, on.server, { taskId });
    await page.getByLabel('Scope of the approval').selectOption('tool');
    const minutes = page.getByLabel('Trust for this many minutes');
    await minutes.fill('-1');
    await button('Approve').click();
    await page.getByRole('alert').getByText('Enter the number of minutes').waitFor();
    await minutes.fill('5');
    const { begun, release } = await held('**/message:send');
    await page.locator('#page:not([data-changing])').waitFor();
    await button('Approve').click();
    await begun;
    await button('Approve').and(page.locator(':disabled')).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    release();
    await page.getByText('You approved this.').waitFor();
  });

  test('a task that the person opens while the page scrolls to a step of another task stays at its top', async () => {
    const long = plan(
      ...Array.from({ length: 12 }, (_, n) => ({ say: `${'word '.repeat(400)} number ${n}.` })),
    );
    const first = await on.peer.send(long);
    const second = await on.peer.send(long);
    // The page scrolls in several frames. The test runs them.
    await page.addInitScript('window.frames = []; window.requestAnimationFrame = (act) => frames.push(act);');
    await signIn(page, on.server, { taskId: first.taskId });
    await page.getByRole('group', { name: 'Text of the agent' }).getByText('number 11.').waitFor();
    await page.evaluate('window.scrollTo(0, 2_000)');
    await page.reload();
    await page.evaluate(SCROLLED);
    await page.goto(`${on.server.url}/page#task=${second.taskId}`);
    await page
      .locator('nav a[aria-current="true"]')
      .and(page.locator(`[data-task="${second.taskId}"]`))
      .waitFor();
    await page.getByRole('group', { name: 'Text of the agent' }).getByText('number 11.').waitFor();
    await page.evaluate('for (let n = 0; n < 100; n += 1) for (const act of frames.splice(0)) act(0)');
    expect(await page.evaluate('window.scrollY')).toBe(0);
  });
});

/** A report of the costs of a day, as the server sends it. */
function costs(usd: number): CostReport {
  const sum = {
    requests: 1,
    inputTokens: 1,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 1,
    usd,
    knownUsd: usd,
    unpricedRequests: 0,
  };
  const day = '2026-01-31';
  return {
    timeZone: 'UTC',
    from: day,
    to: day,
    total: sum,
    days: [],
    sessions: [],
    moreSessions: 0,
    models: [],
  };
}
