/** Tests in a browser that keys decide, and only what was on the screen; and the approval of all actions. */
import { beforeEach, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { plan, type PlannedStep, wait, write } from '../../support/offline-plan.ts';
import { signal } from '../../support/signal.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { describeInBrowser, keepClickGuard } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';
import { wholeTask } from './support/whole-task.ts';

const LONG = `${Array.from({ length: 80 }, (_, index) => `line ${index}`).join('\n')}\n`;

describeInBrowser('the keys of the page', (browser) => {
  let page: Page;
  let on: SharedStage;
  /** Decisions and other messages that the page has sent. */
  let sent: string[];
  beforeEach(async () => {
    on = await sharedStage();
    sent = [];
    page = await browser.watchedPage();
    page.on('request', (request) => {
      if (request.url().endsWith('/message:send')) sent.push(request.postData() ?? '');
    });
  });

  const begin = async (...steps: PlannedStep[]): Promise<string> => {
    const { taskId } = await on.peer.send(plan(...steps));
    await signIn(page, on.server, { taskId });
    await page.locator('section.action[data-seen]').first().waitFor();
    await wholeTask(page);
    return taskId;
  };
  const action = (title: string): Locator => page.getByRole('region', { name: title });
  const isSelected = (title: string): Promise<boolean> =>
    action(title).evaluate((it) => it.contains(it.ownerDocument.activeElement));
  const focused = (title: string): Promise<void> =>
    page.locator(`section.action[aria-label="${title}"]:focus`).waitFor();
  const seen = (title: string): Promise<void> =>
    page.locator(`section.action[aria-label="${title}"][data-seen="true"]`).waitFor();
  const state = (word: string): Promise<void> => page.locator(`article .state-${word}`).waitFor();
  const steady = (): Promise<void> => page.locator('#page:not([data-changing])').waitFor();

  test('J and K select an action, A approves it, and J then selects the next one', async () => {
    await begin({ together: [write('a.md', 'x\n'), write('b.md', 'x\n')] }, { say: 'Done.' });
    // Without a selection, A only selects.
    await page.keyboard.press('a');
    expect(await isSelected('Write a.md')).toBe(true);
    await seen('Write a.md');
    expect(sent).toEqual([]);
    for (const [key, title] of [
      ['j', 'Write b.md'],
      ['j', 'Write b.md'],
      ['k', 'Write a.md'],
    ] as const) {
      await page.keyboard.press(key);
      expect(await isSelected(title)).toBe(true);
    }
    await seen('Write a.md');
    await action('Write a.md').getByText('waits until').waitFor();
    await page.keyboard.press('a');
    await action('Write a.md').getByText('You approved this.').waitFor();
    expect(await action('Write a.md').getByText('waits until').count()).toBe(0);
    await steady();
    await page.keyboard.press('j');
    expect(await isSelected('Write b.md')).toBe(true);
    await seen('Write b.md');
    await page.keyboard.press('A');
    await state('completed');
    expect(sent).toHaveLength(2);
    expect([await on.file('a.md'), await on.file('b.md')]).toEqual(['x\n', 'x\n']);
  });

  test('R09 the approval of one action keeps the reason that the person writes for another action', async () => {
    await begin({ together: [write('a.md', 'x\n'), write('b.md', 'x\n')] }, { say: 'Done.' });
    const reason = action('Write b.md').getByLabel('Reason for the denial');
    await reason.fill('not this file');
    await reason.evaluate((field) => field.setAttribute('data-same', ''));
    await action('Write a.md').getByRole('button', { name: 'Approve' }).click();
    await action('Write a.md').getByText('You approved this.').waitFor();
    await steady();
    expect(await reason.getAttribute('data-same')).toBe('');
    expect(await reason.inputValue()).toBe('not this file');
    await reason.press('Enter');
    await state('completed');
    expect([await on.file('a.md'), await on.file('b.md')]).toEqual(['x\n', undefined]);
  });

  test('the focus stays on a decided action, and J then selects the action after it', async () => {
    await begin(
      { together: [write('a.md', 'x\n'), write('b.md', 'x\n'), write('c.md', 'x\n')] },
      write('d.md', 'x\n'),
      { say: 'Done.' },
    );
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await seen('Write b.md');
    await page.keyboard.press('a');
    await action('Write b.md').getByText('You approved this.').waitFor();
    await focused('Write b.md');
    await steady();
    await page.keyboard.press('j');
    expect(await isSelected('Write c.md')).toBe(true);
    await page.keyboard.press('k');
    expect(await isSelected('Write a.md')).toBe(true);
    // The focused button disappears with the decision.
    await action('Write a.md').getByRole('button', { name: 'Approve' }).press('Enter');
    await action('Write a.md').getByText('You approved this.').waitFor();
    await focused('Write a.md');
    await steady();
    await action('Write c.md').getByLabel('Reason for the denial').press('Enter');
    await action('Write d.md').waitFor();
    // The page shows a decided action in one line now, which has the focus.
    await page.locator('p:focus', { hasText: 'Write c.md: You denied this.' }).waitFor();
    await steady();
    await page.keyboard.press('j');
    expect(await isSelected('Write d.md')).toBe(true);
  });

  test('a refusal is on the screen at its action, and the person’s reason stays', async () => {
    const height = 400;
    await page.setViewportSize({ width: 700, height });
    await begin(write('long.md', LONG), { say: 'Done.' });
    await page.route('**/message:send', (route) => route.fulfill({ status: 400, json: {} }));
    const reason = page.getByLabel('Reason for the denial');
    await reason.fill('too long');
    await reason.press('Enter');
    const alert = action('Write long.md').getByRole('alert');
    await alert.waitFor();
    // The browser logs the refused request.
    expect(browser.problems.splice(0)).toHaveLength(1);
    const box = await alert.boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect((box?.y ?? NaN) + (box?.height ?? NaN)).toBeLessThanOrEqual(height);
    expect(await reason.inputValue()).toBe('too long');
    await page.unroute('**/message:send');
    await steady();
    await reason.press('Enter');
    await action('Write long.md').getByText('You denied this.').waitFor();
    expect(await page.getByRole('article').getByRole('alert').count()).toBe(0);
  });

  test('a refused decision and the button "Back" leave the focus on the action', async () => {
    await begin(write('a.md', 'x\n'), { say: 'Done.' });
    const approve = action('Write a.md').getByRole('button', { name: 'Approve' });
    await page.route('**/message:send', (route) => route.fulfill({ status: 400, json: {} }));
    await approve.press('Enter');
    await page.getByRole('article').getByRole('alert').waitFor();
    // The browser logs the refused request.
    expect(browser.problems.splice(0)).toHaveLength(1);
    await page.unroute('**/message:send');
    await focused('Write a.md');
    await steady();
    await page.keyboard.press('e');
    await page.getByLabel('The edited input').waitFor();
    await steady();
    await page.getByRole('button', { name: 'Back' }).press('Enter');
    await focused('Write a.md');
    await steady();
    await page.keyboard.press('a');
    await state('completed');
  });

  test('if another channel decides the action, the next letters of a reason are no commands', async () => {
    await page.setViewportSize({ width: 1280, height: 1600 });
    const taskId = await begin({ together: [write('a.md', 'x\n'), write('b.md', 'x\n')] }, { say: 'Done.' });
    await seen('Write b.md');
    await action('Write a.md').getByLabel('Reason for the denial').pressSequentially('not this ');
    const [first] = (await on.peer.task(taskId)).pending;
    if (first === undefined) throw new Error('nothing waits');
    await on.peer.decide(taskId, [{ callId: first.callId, shown: first.shown, decision: 'deny' }]);
    await action('Write a.md')
      .getByText(/^Denied by/)
      .waitFor();
    await focused('Write a.md');
    await steady();
    await page.keyboard.type('jade');
    expect(await isSelected('Write b.md')).toBe(false);
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    expect(await isSelected('Write b.md')).toBe(true);
    expect(sent).toEqual([]);
    await page.keyboard.press('a');
    await state('completed');
  });

  test('an action that arrives while the person writes a message leaves the message', async () => {
    const stream = await on.peer.stream(plan(wait(100), write('a.md', 'x\n'), { say: 'Done.' }));
    const { taskId, activity } = await stream.until((event) => event.activity?.type === 'tool.started');
    if (activity?.type !== 'tool.started') throw new Error('no tool runs');
    await signIn(page, on.server, { taskId });
    const message = page.getByLabel('Message to the agent');
    await message.pressSequentially('a ');
    await on.peer.abort(activity.toolId);
    await seen('Write a.md');
    await steady();
    await page.keyboard.type('jade key');
    expect(await message.inputValue()).toBe('a jade key');
    expect(sent).toEqual([]);
    const send = page.getByRole('button', { name: 'Send the message' });
    expect(await send.isDisabled()).toBe(true);
    await message.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    await state('completed');
    expect(await message.inputValue()).toBe('a jade key');
    expect(await send.isEnabled()).toBe(true);
  });

  test('R02 D asks for a reason, letters in the field stay text, and Enter sends the denial', async () => {
    const taskId = await begin(write('a.md', 'x\n'), { say: 'Left.' });
    await page.keyboard.press('j');
    await seen('Write a.md');
    await page.keyboard.press('d');
    await page.keyboard.type('a jade key?');
    expect(await page.getByLabel('Reason for the denial').inputValue()).toBe('a jade key?');
    await page.keyboard.press('Enter');
    await state('completed');
    expect(sent).toHaveLength(1);
    const { overview } = await on.peer.task(taskId);
    expect(overview.calls).toMatchObject([{ state: 'denied' }]);
    expect(sent[0]).toContain('a jade key?');
  });

  test('R10 E edits the action, and Escape leaves the field', async () => {
    await begin({ tool: 'run-shell-command', input: { command: 'echo one > out.txt' } });
    await page.keyboard.press('j');
    await page.locator('section.action[data-seen="true"]').waitFor();
    await page.keyboard.press('e');
    await page.getByLabel('The edited input').fill('echo two > out.txt');
    await page.getByLabel('The edited input').press('Escape');
    await page.keyboard.press('a');
    expect(sent).toEqual([]);
    await page.getByRole('button', { name: 'Approve as edited' }).click();
    await state('completed');
    expect(await on.file('out.txt')).toBe('two\n');
  });

  test('A on an action that was not whole on the screen shows its end, and decides nothing', async () => {
    const height = 220;
    await page.setViewportSize({ width: 500, height });
    await begin(write('long.md', LONG), { say: 'Done.' });
    await page.keyboard.press('j');
    const end = page.getByLabel('Reason for the denial');
    expect(await action('Write long.md').getAttribute('data-seen')).toBe('false');
    await page.keyboard.press('a');
    await seen('Write long.md');
    expect((await end.boundingBox())?.y).toBeLessThan(height);
    expect(sent).toEqual([]);
    await page.keyboard.press('a');
    await state('completed');
    expect(await on.file('long.md')).toBe(LONG);
  });

  test('a key has no effect with a modifier, or for half a second after a change of the page', async () => {
    await keepClickGuard(page);
    const taskId = await begin(write('a.md', 'x\n'), write('b.md', 'x\n'));
    const [first] = (await on.peer.task(taskId)).pending;
    if (first === undefined) throw new Error('nothing waits');
    await page.clock.pauseAt(Date.now() + 10_000);
    const { callId, shown } = first;
    await (await on.peer.decide(taskId, [{ callId, shown, decision: 'approve' }])).parked();
    await action('Write b.md').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    // The page may still get parts of the task. With a stopped clock, the time after such a change would never end.
    await page.clock.resume();
    await page.getByRole('region', { name: 'Checkpoints' }).waitFor();
    await steady();
    await seen('Write b.md');
    for (const chord of ['Control+a', 'Alt+a', 'Meta+a', 'Shift+a']) await page.keyboard.press(chord);
    expect(sent).toEqual([]);
    await page.keyboard.press('a');
    await state('completed');
    expect(sent).toHaveLength(1);
  });

  test('a change of the page below a dialog does not make the page ignore a click in the dialog', async () => {
    await keepClickGuard(page);
    await begin(write('a.md', 'x\n'));
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await page.clock.pauseAt(Date.now() + 10_000);
    await page.evaluate("document.querySelector('#page').append(document.createElement('p'))");
    await page.locator('#page[data-changing]').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'hidden' });
  });

  test('/ goes to the search of the tasks, where letters are text', async () => {
    await begin(write('a.md', 'x\n'));
    await page.keyboard.press('j');
    await seen('Write a.md');
    await page.keyboard.press('/');
    await page.keyboard.type('jade');
    expect(await page.getByRole('searchbox').inputValue()).toBe('jade');
    expect(sent).toEqual([]);
  });

  test('? shows the keys, which do nothing until the list closes', async () => {
    await begin(write('a.md', 'x\n'));
    await page.keyboard.press('j');
    await seen('Write a.md');
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    await dialog.getByText('Approve the selected action').waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(sent).toEqual([]);
    await page.keyboard.press('a');
    await state('completed');
  });

  test('D2 one press approves all actions, after each of them was on the screen', async () => {
    await page.setViewportSize({ width: 700, height: 500 });
    const taskId = await begin({ together: [write('a.md', LONG), write('b.md', LONG), write('c.md', LONG)] });
    const all = page.getByRole('button', { name: 'Approve all 3 actions' });
    expect(await all.isDisabled()).toBe(true);
    for (const title of ['Write a.md', 'Write b.md', 'Write c.md']) {
      await action(title).getByRole('heading').scrollIntoViewIfNeeded();
      await action(title).getByLabel('Reason for the denial').scrollIntoViewIfNeeded();
      await seen(title);
    }
    await action('Write b.md').getByRole('button', { name: 'Edit' }).click();
    await page.getByText('(2 of 3)').waitFor();
    expect(await all.isDisabled()).toBe(true);
    await action('Write b.md').getByRole('button', { name: 'Back' }).click();
    await all.click();
    await state('completed');
    expect(sent).toHaveLength(1);
    const { overview } = await on.peer.task(taskId);
    expect(overview.calls.map(({ decided }) => decided?.channel)).toEqual(['page', 'page', 'page']);
    for (const name of ['a.md', 'b.md', 'c.md']) expect(await on.file(name)).toBe(LONG);
  });

  test('"Approve all" waits while a decision is on its way, because it would contradict a denial', async () => {
    await page.setViewportSize({ width: 1280, height: 1600 });
    const taskId = await begin({ together: [write('a.md', 'x'), write('b.md', 'x'), write('c.md', 'x')] });
    const arrives = signal();
    await page.route('**/message:send', async (route) => {
      await arrives.happened;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Approve all 3 actions' }).and(page.locator(':enabled')).waitFor();
    await action('Write b.md').getByRole('button', { name: 'Deny' }).click();
    await action('Write b.md').getByRole('button', { name: 'Deny' }).and(page.locator(':disabled')).waitFor();
    expect(await page.getByRole('button', { name: /^Approve all/ }).isDisabled()).toBe(true);
    await action('Write b.md').getByText('Sending …').waitFor();
    arrives.happen();
    await action('Write b.md').getByText('You denied this.').waitFor();
    await page.getByRole('button', { name: 'Approve all 2 actions' }).click();
    await state('completed');
    const { overview } = await on.peer.task(taskId);
    expect(overview.calls.map(({ decided }) => decided?.decision)).toEqual(['approve', 'deny', 'approve']);
  });
});
