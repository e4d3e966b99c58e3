/** Tests in a browser that a person with a keyboard keeps the place on the page when a pressed button goes away. */
import { beforeEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { plan, wait, write } from '../../support/offline-plan.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';
import { wholeTask } from './support/whole-task.ts';

describeInBrowser('the focus of a person with a keyboard', (browser) => {
  let page: Page;
  let on: SharedStage;
  beforeEach(async () => {
    on = await sharedStage();
    page = await (await browser.newContext({ viewport: { width: 1280, height: 1600 } })).newPage();
  });

  /** Presses a button with the keyboard, after the time in which the page ignores presses. */
  async function press(name: string): Promise<void> {
    const button = page.getByRole('button', { name, exact: true });
    await button.focus();
    await page.locator('#page:not([data-changing])').waitFor();
    await button.press('Enter');
  }
  const state = (word: string): Promise<void> => page.locator(`article .state-${word}`).waitFor();
  /** Returns the name of what the Tab key reaches next. */
  async function next(): Promise<string> {
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    return (await focused.getAttribute('aria-label')) ?? (await focused.innerText());
  }

  test('is on the question after "Cancel the task", on the button after "Keep it", and in the task after "Yes"', async () => {
    const { taskId } = await on.peer.send(plan(write('a.md', 'x')));
    await signIn(page, on.server, { taskId });
    await wholeTask(page);
    await press('Cancel the task');
    await page.locator('[aria-label="Cancel the task and stop its tools?"]:focus').waitFor();
    await press('Keep it');
    expect(await next()).toBe('Cancel the task');
    await press('Cancel the task');
    await press('Yes, cancel it');
    await state('canceled');
    await page.locator('article:focus').waitFor();
  });

  test('is in the task when an aborted tool goes away', async () => {
    await on.peer.stream(plan(wait(100), write('a.md', 'x')));
    await signIn(page, on.server);
    await wholeTask(page);
    await press('Abort');
    await press('Yes, stop it');
    await page.getByRole('button', { name: 'Abort' }).waitFor({ state: 'detached' });
    await page.locator('article:focus').waitFor();
  });

  test('stays at the turn when the preview of "Put back" opens and closes, and is in the next task afterwards', async () => {
    const { taskId } = await on.peer.send(plan(write('a.md', 'x\n')), { settings: { autoExecute: true } });
    await signIn(page, on.server, { taskId });
    await wholeTask(page);
    await press('Put back …');
    await page.locator('li:focus').getByRole('group', { name: 'Put back turn 1' }).waitFor();
    await press('Keep the files');
    await page.locator('li:focus').getByRole('button', { name: 'Put back …' }).waitFor();
    await press('Put back …');
    await press('Yes, put these files back');
    await page.locator(`article:has-text("Put back")`).waitFor();
    await page.locator('.chosen-task:focus').waitFor();
  });

  test('is in the next task after a message has started it', async () => {
    const { taskId } = await on.peer.send(plan({ say: 'Said.' }));
    await signIn(page, on.server, { taskId });
    await wholeTask(page);
    await page.getByLabel('Message to the agent').fill('say more');
    await press('Send the message');
    await page.getByRole('heading', { name: 'say more' }).waitFor();
    await page.locator('.chosen-task:focus').waitFor();
  });

  test('is on "Start a task" after a task has started', async () => {
    await on.peer.send(plan({ say: 'Said.' }));
    await signIn(page, on.server);
    await wholeTask(page);
    await page.getByText('Start a task').press('Enter');
    // The name of the agent is the last part of the form.
    await page.locator('details.start').getByText('offline', { exact: true }).waitFor();
    await page.getByLabel('The task for the agent').fill('say hello');
    await press('Send');
    await page.getByRole('heading', { name: 'say hello' }).waitFor();
    await page.locator('summary:focus', { hasText: 'Start a task' }).waitFor();
  });

  test('is in the task after "Approve all"', async () => {
    const { taskId } = await on.peer.send(plan({ together: [write('a.md', 'x'), write('b.md', 'x')] }));
    await signIn(page, on.server, { taskId });
    await page.getByRole('button', { name: 'Approve all 2 actions' }).and(page.locator(':enabled')).waitFor();
    await wholeTask(page);
    await press('Approve all 2 actions');
    await page.getByText('You approved this.').nth(1).waitFor();
    await page.locator('article:focus').waitFor();
  });
});
