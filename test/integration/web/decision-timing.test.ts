/**
 * Tests the approval page in a browser. The selection stays in place, and each press counts for the action that was
 * shown.
 */
import { beforeEach, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { plan, type PlannedCall, type PlannedStep } from '../../support/offline-plan.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { makeLink, signIn } from './support/sign-in.ts';

const write = (path: string, content = 'x\n'): PlannedCall => ({
  tool: 'write-file',
  input: { path, content },
});

/** At 360 × 640 pixels the element can be scrolled into view, and its sides are not cut off. */
async function inView(it: Locator): Promise<void> {
  await it.scrollIntoViewIfNeeded();
  const box = await it.boundingBox();
  if (box === null) throw new Error('it is not drawn');
  expect(box.x).toBeGreaterThanOrEqual(0);
  expect(box.x + box.width).toBeLessThanOrEqual(360);
  expect(box.y).toBeLessThan(640);
}

describeInBrowser('the moment of decision on the page', (browser) => {
  let page: Page;
  let on: SharedStage;
  /** Decisions and other messages that the page has sent. */
  let sent: string[];
  beforeEach(async () => {
    on = await sharedStage();
    sent = [];
    page = await (await browser.newContext()).newPage();
    page.on('request', (request) => {
      if (request.url().endsWith('/message:send')) sent.push(request.postData() ?? '');
    });
  });

  const begin = async (...steps: PlannedStep[]): Promise<string> =>
    (await on.peer.send(plan(...steps))).taskId;
  const action = (title: string): Locator => page.getByRole('region', { name: title });
  const approve = (title: string): Locator => action(title).getByRole('button', { name: 'Approve' });
  const state = (word: string): Promise<void> => page.locator(`article .state-${word}`).waitFor();
  const steady = (): Promise<void> => page.locator('#page:not([data-changing])').waitFor();
  const firstPending = async (taskId: string): Promise<{ callId: string; shown: string }> => {
    const [first] = (await on.peer.task(taskId)).pending;
    if (first === undefined) throw new Error('nothing waits');
    return { callId: first.callId, shown: first.shown };
  };
  const callOf = async (taskId: string): Promise<string> => (await firstPending(taskId)).callId;

  test('a new task does not change the person’s selection; it appears in the list, and opens on a click', async () => {
    const first = await begin(write('first.md'));
    await signIn(page, on.server);
    await approve('Write first.md').waitFor();
    const second = await begin(write('second.md'));
    await page.locator('.tasks a').nth(1).waitFor();
    expect(page.url()).toContain(first);
    await approve('Write first.md').waitFor();
    await page.locator('.tasks a').nth(1).click();
    await approve('Write second.md').waitFor();
    expect(page.url()).toContain(second);
    await page.goBack();
    await approve('Write first.md').waitFor();
  });

  test('a double click decides once, and the decided action keeps its position on the page', async () => {
    const other = await begin(write('other.md'));
    const taskId = await begin(write('a.md'), { say: 'Done.' });
    await signIn(page, on.server, { taskId });
    await approve('Write a.md').dblclick();
    await state('completed');
    await action('Write a.md').getByText('You approved this.').waitFor();
    expect(sent).toHaveLength(1);
    expect(page.url()).toContain(taskId);
    expect(await on.file('a.md')).toBe('x\n');
    expect(await callOf(other)).not.toBe('');
  });

  test('if a person decides actions one by one, the other actions keep their positions', async () => {
    await begin({ together: [write('a.md'), write('b.md')] });
    await signIn(page, on.server);
    await approve('Write b.md').waitFor();
    await steady();
    const before = await approve('Write b.md').boundingBox();
    await approve('Write a.md').click();
    await action('Write a.md').getByText('You approved this.').waitFor();
    expect(
      await action('Write a.md')
        .getByRole('button', { name: /Approve|Deny|Edit/ })
        .count(),
    ).toBe(0);
    expect(await approve('Write b.md').boundingBox()).toEqual(before);
    expect(sent).toHaveLength(1);
  });

  test('for half a second after a change of the page, clicks and keys have no effect', async () => {
    await page.clock.install();
    const taskId = await begin(write('a.md'), write('b.md'));
    const other = await firstPending(taskId);
    await signIn(page, on.server);
    await approve('Write a.md').waitFor();
    await steady();
    await page.clock.pauseAt(Date.now() + 10_000);
    await (await on.peer.decide(taskId, [{ ...other, decision: 'approve' }])).parked();
    await approve('Write b.md').waitFor();
    // The page shows the checkpoint of the written file later than the action. With a stopped clock, the time after such
    // a change would never end.
    await page.getByRole('region', { name: 'Checkpoints' }).waitFor();
    const press = async (): Promise<void> => {
      const box = await approve('Write b.md').boundingBox();
      await page.mouse.click((box?.x ?? 0) + 5, (box?.y ?? 0) + 5);
      await approve('Write b.md').press('Enter');
    };
    await press();
    await page.clock.runFor(499);
    await press();
    expect(await page.locator('#page[data-changing]').count()).toBe(1);
    await page.clock.runFor(1);
    expect(sent).toEqual([]);
    await approve('Write b.md').press('Enter');
    await state('completed');
    expect(sent).toHaveLength(1);
    expect(await on.file('b.md')).toBe('x\n');
  });

  test('R97 if another channel decides, the page shows that at the action with what the person has written, and removes the buttons', async () => {
    const taskId = await begin(write('a.md'), { say: 'Done.' });
    await signIn(page, on.server);
    await action('Write a.md').getByLabel('Reason for the denial').fill('not this file');
    await on.peer.decide(taskId, [{ ...(await firstPending(taskId)), decision: 'deny' }]);
    await action('Write a.md')
      .getByText(/^Denied by \S+ over A2A, (?:just now|\d+ seconds? ago)\.$/)
      .waitFor();
    await action('Write a.md').locator('pre', { hasText: 'not this file' }).waitFor();
    expect(
      await action('Write a.md')
        .getByRole('button', { name: /Approve|Deny|Edit/ })
        .count(),
    ).toBe(0);
    expect(sent).toEqual([]);
  });

  test('a link opens exactly its action, also in a signed-in browser; after the decision the page says that it is decided', async () => {
    const taskId = await begin({ together: [write('a.md'), write('b.md')] });
    const [, call] = (await on.peer.task(taskId)).overview.calls;
    const target = { taskId, callId: call?.callId };
    await signIn(page, on.server, target);
    await approve('Write b.md').waitFor();
    expect(await action('Write a.md').count()).toBe(0);
    await page.getByText('One more action of this task waits.').waitFor();
    await approve('Write b.md').click();
    await action('Write b.md').getByText('You approved this.').waitFor();
    const tab = await page.context().newPage();
    await tab.goto(await makeLink(on.server, target));
    await tab.getByText(/^Approved by \S+ on an approval page, (?:just now|\d+ seconds? ago)\.$/).waitFor();
    await tab.getByRole('button', { name: 'Show all' }).click();
    await tab.getByRole('region', { name: 'Write a.md' }).getByRole('button', { name: 'Approve' }).waitFor();
  });

  test('if the link’s action now asks another question, the page says so', async () => {
    const taskId = await begin(write('a.md'));
    await signIn(page, on.server, { taskId, callId: await callOf(taskId), shown: 'deadbeef' });
    await page.getByText('changed since the link was made').waitFor();
    await approve('Write a.md').waitFor();
  });

  test('D5 at a width of 360 pixels a person can read a long diff to its end, and reach the buttons', async () => {
    const lines = Array.from(
      { length: 100 },
      (_, index) => `line ${index} ${'long '.repeat(40)}end ${index}.`,
    );
    const taskId = await begin(write('long.md', `${lines.join('\n')}\n`));
    await begin(write('other.md'));
    await page.setViewportSize({ width: 360, height: 640 });
    await signIn(page, on.server, { taskId });
    await approve('Write long.md').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    // The action is the first thing on the screen.
    expect((await action('Write long.md').boundingBox())?.y).toBeLessThan(160);
    await inView(page.getByLabel('Preview').getByText('end 0.'));
    await inView(page.getByLabel('Preview').getByText('end 99.'));
    for (const name of ['Approve', 'Edit', 'Deny'])
      await inView(action('Write long.md').getByRole('button', { name }));
    await approve('Write long.md').click();
    await state('completed');
  });
});
