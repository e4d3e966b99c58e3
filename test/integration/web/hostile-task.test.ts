/** Tests a task with hostile text in each field that the page shows: nothing runs, and nothing hides a button. */
import { expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { decisionOn } from '../../support/a2a-message.ts';
import { askPerson, plan, shell, write } from '../../support/offline-plan.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';

const MARKUP = '<img src=x onerror="owned=1"><script>owned=1</script>';
const EVIL = `${MARKUP}[x](javascript:owned=1)\u{202e}\u{7}${'x'.repeat(3_000)}`;
const EVIL_NAME = '<img src=x onerror=owned=1>\u{202e}.md';

describeInBrowser('R93 X3 a task with hostile text in each field', (browser) => {
  test.each([
    ['a desk screen', { width: 1440, height: 900 }],
    ['a phone', { width: 360, height: 640 }],
  ])('on %s, nothing of it runs, and the buttons can be reached', async (_screen, viewport) => {
    const on = await sharedStage();
    const { taskId } = await on.peer.send(
      plan(
        { tool: 'update-todos', input: { todos: [{ text: EVIL.slice(0, 200), status: 'pending' }] } },
        askPerson(EVIL.slice(0, 900), [EVIL_NAME, 'no']),
        shell(`printf '%s' '${EVIL.replaceAll("'", '')}'`),
        write(EVIL_NAME, EVIL),
        { say: EVIL },
      ),
    );
    const page = await browser.watchedPage({ viewport });
    await signIn(page, on.server, { taskId });
    const approve = page.getByRole('button', { name: 'Approve' });

    await page.getByRole('radio').first().check();
    await harmless(page);
    await reached(page.getByRole('button', { name: 'Answer' }));
    await page.getByRole('button', { name: 'Answer' }).click();

    await page.getByLabel('Preview').getByText('printf').waitFor();
    await harmless(page);
    for (const name of ['Approve', 'Edit', 'Deny']) await reached(page.getByRole('button', { name }));
    const { pending } = await on.peer.task(taskId);
    const [asked] = pending;
    if (asked === undefined) throw new Error('nothing waits');
    await (await on.peer.decide(taskId, [{ ...decisionOn(pending, 'deny'), reason: EVIL }])).parked();

    await page.getByLabel('Preview').getByText('<img src=x').first().waitFor();
    await harmless(page);
    await reached(approve);
    await approve.click();
    // The story arrives after the state.
    await page.getByRole('region', { name: 'Story' }).getByText('The task ended:').waitFor();
    for (const call of await page.locator('.step-call summary').all()) await call.click();
    await page.getByLabel('Changed files').getByText('<img src=x').waitFor();
    await page.getByText('Reason: <img').first().waitFor();
    await harmless(page);
    expect(await on.file(EVIL_NAME)).toBe(EVIL);
  });

  test('D5 the page shows the words of an action in their order, also between letters from right to left', async () => {
    const on = await sharedStage();
    const command = 'cp 1 \u05d0 2 > \u05d1';
    await writeFile(join(on.server.workspace, command), '');
    const deletion = { tool: 'delete-file', input: { path: command } };
    const { taskId } = await on.peer.send(plan(shell(command), deletion, write('words.txt', command)));
    const page = await browser.watchedPage();
    await signIn(page, on.server, { taskId });
    const onScreen = (selector: string) => page.evaluate(`(${ORDER_ON_SCREEN})(${JSON.stringify(selector)})`);
    const title = page.locator('section.action h3');
    const preview = page.getByLabel('Preview');
    await preview.getByText('cp').waitFor();
    expect(await preview.textContent()).toBe(command);
    expect(await onScreen('[aria-label=Preview]')).toBe(command);
    for (const selector of ['section.action h3', '.asks', '.call-title'])
      expect(await onScreen(selector)).toBe(await title.textContent());
    await on.peer.decide(taskId, [decisionOn((await on.peer.task(taskId)).pending, 'deny')]);
    await preview.getByText('Delete').waitFor();
    expect(await onScreen('[aria-label=Preview]')).toBe(`Delete ${command} (0 bytes)`);
    await page.setViewportSize({ width: 200, height: 640 });
    const [first = 0, ...others] = await page.evaluate<number[]>(ROW_STARTS);
    expect(others).not.toEqual([]);
    expect(Math.min(...others)).toBeGreaterThan(first);
    await on.peer.decide(taskId, [decisionOn((await on.peer.task(taskId)).pending, 'deny')]);
    await page.locator('.diff .lines').waitFor();
    expect(await onScreen('.diff .added td:last-child')).toBe(`+${command}`);
    await on.peer.decide(taskId, [decisionOn((await on.peer.task(taskId)).pending, 'deny')]);
  });
});

/** Returns the characters of the last such element, from the top to the bottom and from the left to the right of the screen. */
const ORDER_ON_SCREEN = `(selector) => {
  const element = [...document.querySelectorAll(selector)].at(-1);
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    for (let at = 0; at < text.data.length; at += 1) {
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      const { left, top } = range.getBoundingClientRect();
      found.push({ left, line: Math.round(top / 10), character: text.data[at] });
    }
  return found.sort((one, other) => one.line - other.line || one.left - other.left)
    .map(({ character }) => character).join('');
}`;

/** The left edge of each row of the preview. */
const ROW_STARTS = `(() => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector('[aria-label=Preview] .call-line'));
  const rows = Map.groupBy(range.getClientRects(), ({ top }) => Math.round(top / 10));
  return [...rows.values()].map((row) => Math.min(...row.map(({ left }) => left)));
})()`;

/** The innermost elements whose text makes the page wider than the screen. */
const TOO_WIDE = `[...document.querySelectorAll('body *')]
  .filter((it) => document.documentElement.scrollWidth > innerWidth && it.scrollWidth > innerWidth)
  .filter((it) => ![...it.children].some((child) => child.scrollWidth > innerWidth))
  .map((it) => it.outerHTML.slice(0, 80))`;

/** No text became an element, a link or code. Hidden characters are visible, and the page is not wider than the screen. */
async function harmless(page: Page): Promise<void> {
  expect(await page.evaluate('typeof owned')).toBe('undefined');
  const made = page.locator('main img, main script, main iframe, main object, a[href^="javascript" i]');
  expect(await made.count()).toBe(0);
  const text = await page.locator('body').innerText();
  expect(text).not.toContain('\u{202e}');
  expect(text).not.toContain('\u{7}');
  expect(text).toContain('<img src=x');
  expect(await page.evaluate(TOO_WIDE)).toEqual([]);
}

/** The button can be scrolled to, and nothing lies on it. */
async function reached(button: Locator): Promise<void> {
  await button.click({ trial: true });
}
