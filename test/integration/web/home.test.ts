/** The page's task list in a browser: its three groups, its filters, the title, and the notifications. */
import { beforeEach, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { z } from 'zod';
import { decisionOn } from '../../support/a2a-message.ts';
import { askPerson, plan, shell, wait, write } from '../../support/offline-plan.ts';
import { signal } from '../../support/signal.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';
import { wholeTask } from './support/whole-task.ts';

/** Records the notifications of a page. The person looks at another window. */
const FAKE_NOTIFICATIONS = `
  window.Notification = class extends EventTarget {
    static permission = 'default';
    static async requestPermission() {
      return (this.permission = 'granted');
    }
    constructor(title, { body }) {
      super();
      const shown = document.createElement('meta');
      shown.className = 'shown';
      Object.assign(shown.dataset, { title, body });
      document.head.append(shown);
    }
  };
  document.hasFocus = () => false;
`;

describeInBrowser('the task list of the page', (browser) => {
  let page: Page;
  let on: SharedStage;
  beforeEach(async () => {
    on = await sharedStage();
    page = await (await browser.newContext()).newPage();
  });

  const group = (name: string): Locator => page.getByRole('region', { name, exact: true });
  const rows = (name: string): Locator => group(name).locator('a');
  const title = (expected: string): Promise<void> =>
    page.locator(`xpath=//title[text()='${expected}']`).waitFor({ state: 'attached' });

  /** Presses the button with the keyboard. */
  async function showMore(further: number): Promise<void> {
    const button = group('Ended').getByRole('button', { name: `Show more (${further})` });
    await button.waitFor();
    await wholeTask(page);
    await button.press('Enter');
  }

  test('the list shows what waits, oldest first, with its risk; what runs, with its last line; and what has ended', async () => {
    await on.peer.send(plan(write('a.md', 'x')));
    await on.peer.send(plan({ together: [write('b.md', 'x'), shell('rm -rf b')] }));
    await on.peer.send(plan(askPerson('Which colour?', ['blue'])));
    await on.peer.send('paint the moon');
    await on.peer.stream(plan(wait(100)));
    await signIn(page, on.server);
    await rows('Runs').getByText('Wait 100 seconds').waitFor();
    await rows('Runs').getByText('runs less than 1 min').waitFor();
    expect(await rows('Waits for you').locator('.asks').allTextContents()).toEqual([
      'Write a.md',
      'Write b.md, and 1 more',
      'Ask: Which colour?',
    ]);
    expect(await rows('Waits for you').nth(1).locator('.risk').allTextContents()).toEqual([
      'runs a command',
      'changes files',
    ]);
    await rows('Ended').getByText('rejected by the agent').waitFor();
    await title('(4) Approvals');
    // No raw id is in the list.
    expect(await page.getByRole('navigation').textContent()).not.toMatch(/task-|session-/);
  });

  test('the list changes by itself when another channel decides, and when a task starts', async () => {
    const { taskId } = await on.peer.send(plan(write('a.md', 'x'), { say: 'Written.' }));
    await signIn(page, on.server);
    await rows('Waits for you').getByText('Write a.md').waitFor();
    await title('(1) Approvals');
    const icon = await page.locator('link[rel="icon"]').getAttribute('href');
    expect(icon).toMatch(/^blob:/);
    await page.getByRole('button', { name: 'Approve' }).click();
    await rows('Ended').getByText('completed').waitFor();
    await group('Waits for you').getByText('Nothing waits for you.').waitFor();
    await title('Approvals');
    const next = await on.peer.send(plan(shell('echo 1')));
    expect(next.taskId).not.toBe(taskId);
    await rows('Waits for you').getByText('Run `echo 1`').waitFor();
    // The list selects nothing by itself.
    expect(new URL(page.url()).hash).toBe(`#task=${taskId}`);
  });

  test('the focus stays on the row of a task that moves to another group', async () => {
    const { taskId, pending } = await on.peer.send(plan(write('a.md', 'x'), { say: 'Written.' }));
    await signIn(page, on.server);
    await rows('Waits for you').focus();
    await on.peer.decide(taskId, [decisionOn(pending, 'approve')]);
    await rows('Ended').getByText('completed').waitFor();
    await rows('Ended').and(page.locator(':focus')).waitFor();
  });

  test('search and filters are in the address, and a reload and Back keep them', async () => {
    await on.peer.send('paint the moon');
    await on.peer.send('paint the sun');
    await on.peer.send(plan(write('a.md', 'x')));
    await signIn(page, on.server);
    await rows('Ended').nth(1).waitFor();
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByLabel('Search the tasks').fill('SUN');
    await group('Waits for you').getByText('No task matches the filters.').waitFor();
    await rows('Ended').getByText('paint the sun').waitFor();
    expect(await rows('Ended').count()).toBe(1);
    // The title counts all waiting actions.
    await title('(1) Approvals');
    await page.getByLabel('State').selectOption('rejected');
    expect(await page.evaluate('location.hash')).toBe('#text=SUN&state=rejected');
    await page.reload();
    await rows('Ended').getByText('paint the sun').waitFor();
    expect(await page.getByLabel('Search the tasks').inputValue()).toBe('SUN');
    await rows('Ended').getByText('paint the sun').click();
    await page.locator('article .state-rejected').waitFor();
    expect(new URL(page.url()).hash).toMatch(/^#task=[\w-]+&text=SUN&state=rejected$/);
    await page.goBack();
    await page.getByText('Choose a task from the list').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await rows('Ended').nth(1).waitFor();
    await rows('Waits for you').getByText('Write a.md').waitFor();
  });

  test('R101 the list shows more ended tasks on request, and keeps them when the list changes', async () => {
    for (let n = 1; n <= 60; n += 1) await on.peer.send(`paint moon ${n}`);
    await signIn(page, on.server);
    await group('Ended').getByRole('button', { name: 'Show more (10)' }).click();
    await rows('Ended').nth(59).waitFor({ state: 'attached' });
    await on.peer.send('paint the last moon');
    await rows('Ended').getByText('paint the last moon').waitFor();
    expect(await rows('Ended').count()).toBe(61);
    expect(await group('Ended').getByRole('button').count()).toBe(0);
  });

  test('after “Show more” the focus is on the first new task, also when the button goes away', async () => {
    for (let n = 1; n <= 110; n += 1) await on.peer.send(`paint moon ${n}`);
    await signIn(page, on.server);
    const focused = rows('Ended').and(page.locator(':focus'));
    await showMore(60);
    await focused.getByText('paint moon 60', { exact: true }).waitFor();
    await showMore(10);
    await focused.getByText('paint moon 10', { exact: true }).waitFor();
    expect(await group('Ended').getByRole('button').count()).toBe(0);
    const { y = -1, height = 0 } = (await focused.boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y + height).toBeLessThanOrEqual(page.viewportSize()?.height ?? 0);
  });

  test('after “Show more” the focus stays where the person has gone in the meantime', async () => {
    for (let n = 1; n <= 60; n += 1) await on.peer.send(`paint moon ${n}`);
    await signIn(page, on.server);
    const answered = signal();
    await page.route('**/task-groups/ended?*', async (route) => {
      await answered.happened;
      await route.continue();
    });
    await showMore(10);
    await page.getByLabel('Search the tasks').focus();
    answered.happen();
    await rows('Ended').nth(59).waitFor({ state: 'attached' });
    expect(await page.getByLabel('Search the tasks').and(page.locator(':focus')).count()).toBe(1);
  });

  test('on a phone, no command is cut so that it looks like another one', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await on.peer.send('paint the moon');
    await signIn(page, on.server);
    await page.getByRole('link', { name: 'All tasks' }).click();
    const everywhere = await page.getByRole('button', { name: 'Sign out everywhere' }).boundingBox();
    expect((everywhere?.x ?? Infinity) + (everywhere?.width ?? 0)).toBeLessThanOrEqual(390);
  });

  test('only a press of the button asks for notifications; each new question gets one, without its input', async () => {
    await page.addInitScript({ content: FAKE_NOTIFICATIONS });
    const shown = page.locator('meta.shown');
    await on.peer.send(plan(write('a.md', 'x')));
    await signIn(page, on.server);
    await title('(1) Approvals');
    expect(await page.evaluate('Notification.permission')).toBe('default');
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByRole('button', { name: 'Notifications are on' }).waitFor();
    await on.peer.send(`run \`echo secret-4711\``);
    await title('(2) Approvals');
    await shown.waitFor({ state: 'attached' });
    expect(await shown.getAttribute('data-title')).toBe('The agent wants to run a command');
    await page.getByRole('button', { name: 'Notifications are on' }).click();
    await on.peer.send(plan(write('c.md', 'x')));
    await title('(3) Approvals');
    expect(await shown.count()).toBe(1);
  });

  test('two tabs share one stream of changes, and the second takes over when the first closes', async () => {
    const opened: string[] = [];
    page.context().on('request', (request) => {
      if (request.url().endsWith('/task-changes')) opened.push(request.url());
    });
    await on.peer.send('paint the moon');
    await signIn(page, on.server);
    await rows('Ended').nth(0).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(`${on.server.url}/page`);
    await tab.locator('.ended a').nth(0).waitFor();
    await on.peer.send('paint the sun');
    await tab.locator('.ended a').getByText('paint the sun').waitFor();
    expect(opened).toHaveLength(1);
    const takenOver = page
      .context()
      .waitForEvent('request', (request) => request.url().endsWith('/task-changes'));
    await page.close();
    await takenOver;
    await on.peer.send('paint the stars');
    await tab.locator('.ended a').getByText('paint the stars').waitFor();
  });

  test('R93 X3 hostile text in a title, a search and an address stays text', async () => {
    const evil = `<img src=x onerror="document.title='owned'">\u202Egnp`;
    await on.peer.send(evil);
    await signIn(page, on.server);
    await rows('Ended').getByText('<img src=x').waitFor();
    expect(await page.locator('nav img').count()).toBe(0);
    expect(await rows('Ended').textContent()).not.toContain('\u202E');
    await page.getByLabel('Search the tasks').fill(evil);
    await rows('Ended').getByText('<img src=x').waitFor();
    await page.goto(`${on.server.url}/page#model=${encodeURIComponent(evil)}`);
    await group('Ended').getByText('No task matches the filters.').waitFor();
    await title('Approvals');
  });

  test('the page can be installed: its manifest and its icons load under the content security policy', async () => {
    await on.peer.send('paint the moon');
    await signIn(page, on.server);
    const session = await page.context().newCDPSession(page);
    const { errors, data } = await session.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    expect(z.object({ start_url: z.string() }).parse(JSON.parse(data ?? '')).start_url).toBe('page');
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
    // A test's browser context counts as incognito.
    const others = installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito');
    expect(others).toEqual([]);
  });

  test.each([
    ['a desk screen', { width: 1440, height: 900 }],
    ['a phone', { width: 360, height: 640 }],
  ])('on %s, a task that the person chooses far down in the list is on the screen', async (_, viewport) => {
    await page.setViewportSize(viewport);
    for (let n = 1; n <= 15; n += 1) await on.peer.send(`paint moon ${n}`);
    await signIn(page, on.server);
    // The page opens the first task after it has the list.
    await page.getByRole('article', { name: 'Task' }).waitFor();
    const toList = page.getByRole('link', { name: 'All tasks' });
    if (await toList.isVisible()) await toList.click();
    const last = rows('Ended').last();
    const chosen = (await last.locator('.title').textContent()) ?? '';
    await last.click();
    const heading = page.getByRole('article', { name: 'Task' }).getByRole('heading', { name: chosen });
    await heading.waitFor();
    const box = await heading.boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
    // In a list beside the task, the chosen row stays where it is.
    if (!(await toList.isVisible())) expect((await last.boundingBox())?.y).toBeLessThan(viewport.height);
  });

  test('on a desk screen, Approve is below a long diff without scrolling', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await on.peer.send(plan(write('a.md', 'x\n'.repeat(200))));
    await signIn(page, on.server);
    const approve = await page.getByRole('button', { name: 'Approve' }).boundingBox();
    expect((approve?.y ?? Infinity) + (approve?.height ?? 0)).toBeLessThanOrEqual(900);
  });

  test('at 360 pixels the whole action of a long diff is on the screen, and "All tasks" leads to a list that fits', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await on.peer.send(plan(write('a.md', 'x\n'.repeat(200))));
    await on.peer.send('paint the moon');
    await signIn(page, on.server);
    const approve = await page.getByRole('button', { name: 'Approve' }).boundingBox();
    expect((approve?.y ?? Infinity) + (approve?.height ?? 0)).toBeLessThanOrEqual(740);
    await page.getByRole('link', { name: 'All tasks' }).click();
    await rows('Waits for you').getByText('Write a.md').waitFor();
    await page.getByRole('article').waitFor({ state: 'detached' });
    const boxes = await Promise.all((await page.locator('.tasks li').all()).map((row) => row.boundingBox()));
    for (const box of boxes) {
      expect(box?.height).toBeLessThan(160);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
    }
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(360);
    const header = await page.getByRole('banner').boundingBox();
    const button = await page.getByRole('button', { name: 'Sign out', exact: true }).boundingBox();
    // The header has at most two rows.
    expect(header?.height).toBeLessThan(3 * (button?.height ?? 0));
  });
});
