/** Checks the page’s main views with axe: names, roles, contrast, landmarks. Each in light and dark, wide and narrow. */
import { expect, test } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { z } from 'zod';
import { askPerson, plan, shell, write } from '../../support/offline-plan.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 360, height: 740 };

/** The rules whose result depends on colours. A colour scheme changes nothing but colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Runs axe with these options, and reports whether the page has paled its buttons meanwhile. */
const run = (options: object): string => `(async () => {
  let changed = false;
  const watch = new MutationObserver(() => { changed = true; });
  watch.observe(document.querySelector('#page'), { attributeFilter: ['data-changing'] });
  const found = await axe.run(${JSON.stringify(options)});
  watch.disconnect();
  return { ...found, changed };
})()`;

const findings = z.object({
  changed: z.boolean(),
  passes: z.array(z.unknown()),
  violations: z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) })),
});

/** Returns what a screen reader says after the name of an element. */
async function descriptionOf(element: Locator): Promise<string | null> {
  const id = await element.getAttribute('aria-describedby');
  return element
    .page()
    .locator(`[id="${id ?? ''}"]`)
    .textContent();
}

/** Returns the colour of the left border of the first element with this selector. */
function borderOf(page: Page, selector: string): Promise<unknown> {
  return page.evaluate(`getComputedStyle(document.querySelector('${selector}')).borderLeftColor`);
}

describeInBrowser('the page with axe', (browser) => {
  let page: Page;

  /** Returns what axe finds in the current view: the rules, each with the elements. */
  async function found(): Promise<string[]> {
    const all: string[] = [];
    // Evaluated by the debugger, because the page's policy forbids other scripts.
    await page.evaluate(await readFile(AXE, 'utf8'));
    for (const viewport of [WIDE, NARROW])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        const { violations, passes } = await foundSteady(
          colorScheme === 'light' ? {} : { runOnly: COLOUR_RULES },
        );
        expect(passes.length).toBeGreaterThan(colorScheme === 'light' ? 10 : 0);
        const where = `${String(viewport.width)} ${colorScheme}`;
        all.push(
          ...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${where} ${id}: ${html}`)),
        );
      }
    return all;
  }

  /** After a change, the page pales its buttons for half a second. Returns what axe finds without such a change. */
  async function foundSteady(options: object): Promise<z.infer<typeof findings>> {
    await page.locator('#page:not([data-changing])').waitFor();
    const result = findings.parse(await page.evaluate(run(options)));
    return result.changed ? foundSteady(options) : result;
  }

  async function pageOf(): Promise<Awaited<ReturnType<typeof sharedStage>>> {
    const on = await sharedStage();
    page = await (await browser.newContext()).newPage();
    return on;
  }

  test('the sign-in has no findings', async () => {
    const { server } = await pageOf();
    await page.goto(`${server.url}/page`);
    await page.getByText('page').first().waitFor();
    expect(await found()).toEqual([]);
  });

  test('the home with tasks that wait, run and have ended has no findings', async () => {
    const on = await pageOf();
    await on.peer.send(plan({ together: [write('b.md', 'x'), shell('rm -rf b')] }));
    await on.peer.send(plan(askPerson('Which colour?', ['blue'])));
    await on.peer.send('paint the moon');
    await signIn(page, on.server);
    await page.getByText('Which colour?').first().waitFor();
    expect(await found()).toEqual([]);
  });

  test.each([
    [
      'a diff and a command',
      plan(
        { say: '# A title\n\n- a [link](https://a.example)' },
        { together: [write('b.md', 'x\ny'), shell('rm -rf b')] },
      ),
    ],
    ['a question', plan(askPerson('Which colour?', ['blue', 'red']))],
    ['an ended task', plan({ say: 'Done.' })],
  ])('a task with %s has no findings', async (_, text) => {
    const on = await pageOf();
    const { taskId } = await on.peer.send(text);
    await signIn(page, on.server);
    await page.goto(`${on.server.url}/page#task=${taskId}`);
    await page.locator('article').waitFor();
    expect(await found()).toEqual([]);
  });

  test('each button of an action says to a screen reader which action it decides, the scopes say when trust ends, and the state of the task is announced', async () => {
    const on = await pageOf();
    const { taskId } = await on.peer.send(plan({ together: [write('b.md', 'x'), write('c.md', 'y')] }));
    await signIn(page, on.server, { taskId });
    const button = (title: string, name: string): Locator =>
      page.getByRole('region', { name: title }).getByRole('button', { name, exact: true });
    for (const title of ['Write b.md', 'Write c.md'])
      for (const name of ['Approve', 'Edit', 'Deny'])
        expect(await descriptionOf(button(title, name))).toBe(title);
    // Trust ends with the task (docs/approvals.md), and the person must know that before the decision.
    const scopes = page.getByRole('combobox', { name: 'Scope of the approval' }).first().locator('option');
    expect(await scopes.allTextContents()).toEqual([
      'this time',
      'for this tool, until the task ends',
      'for everything, until the task ends',
    ]);
    const state = page.locator('.task-head [aria-live=polite]');
    expect(await state.textContent()).toBe('waits for you');
    await button('Write b.md', 'Deny').click();
    await button('Write c.md', 'Deny').click();
    await state.getByText('completed').waitFor();
  });

  test('the first press of Tab leads past the list to the first action', async () => {
    const on = await pageOf();
    const { taskId } = await on.peer.send(plan({ together: [write('b.md', 'x'), write('c.md', 'y')] }));
    await signIn(page, on.server, { taskId });
    await page.getByRole('region', { name: 'Write b.md' }).waitFor();
    await page.reload();
    const action = page.getByRole('region', { name: 'Write b.md' });
    await action.waitFor();
    await page.locator('#page:not([data-changing])').waitFor();
    await page.keyboard.press('Tab');
    const skip = page.getByRole('button', { name: 'Skip to the task' });
    expect(await page.evaluate("document.activeElement.matches('.skip')")).toBe(true);
    expect(await found()).toEqual([]);
    await skip.focus();
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Write b.md');
  });

  test('at 320 pixels, and so at 400 % of a window of 1280 pixels, nothing scrolls sideways', async () => {
    const on = await pageOf();
    const { taskId } = await on.peer.send(
      plan({ together: [write('b.md', 'x'.repeat(3_000)), shell(`echo ${'y'.repeat(3_000)}`)] }),
    );
    await signIn(page, on.server, { taskId });
    await page.setViewportSize({ width: 320, height: 640 });
    await page.getByText('Ids', { exact: true }).click();
    await page.getByRole('combobox', { name: 'Scope of the approval' }).first().waitFor();
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBe(320);
  });

  test('with the high contrast of an operating system, the list shows which task is chosen', async () => {
    const on = await pageOf();
    await on.peer.send(plan(write('b.md', 'x')));
    const { taskId } = await on.peer.send(plan(write('c.md', 'x')));
    await signIn(page, on.server, { taskId });
    await page.emulateMedia({ forcedColors: 'active' });
    await page.goto(`${on.server.url}/page#task=${taskId}`);
    await page.locator('.task[aria-current]').waitFor();
    expect(await borderOf(page, '.task[aria-current]')).not.toBe(
      await borderOf(page, '.task:not([aria-current])'),
    );
  });

  test('the choices of a question are a group, and the question is its name', async () => {
    const on = await pageOf();
    const { taskId } = await on.peer.send(plan(askPerson('Which colour?', ['blue', 'red'])));
    await signIn(page, on.server, { taskId });
    await page.getByRole('radio', { name: 'red' }).waitFor();
    expect(await page.getByRole('radiogroup', { name: 'Which colour?' }).getByRole('radio').count()).toBe(2);
  });

  test('the form for the input of a tool has no findings, also with a problem', async () => {
    const on = await pageOf();
    const edit = { path: 'a.md', oldText: 'one', newText: 'two' };
    await writeFile(join(on.server.workspace, 'a.md'), 'one\n');
    const { taskId } = await on.peer.send(plan({ tool: 'edit-file', input: edit }));
    await signIn(page, on.server, { taskId });
    await page.getByRole('button', { name: 'Edit' }).click();
    const form = page.getByRole('group', { name: 'The edited input' });
    await form.getByLabel(/^path/).fill('');
    await form.getByRole('alert').waitFor();
    expect(await found()).toEqual([]);
  });

  test('the checkpoints and the preview of "Put back" have no findings', async () => {
    const on = await pageOf();
    const { taskId } = await on.peer.send(plan(write('a.md', 'x\n')), { settings: { autoExecute: true } });
    await signIn(page, on.server, { taskId });
    await page.getByRole('button', { name: 'Put back …' }).click();
    await page.getByRole('button', { name: 'Yes, put these files back' }).waitFor();
    expect(await found()).toEqual([]);
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(360);
  });

  test('"Start a task" has no findings', async () => {
    const on = await pageOf();
    await signIn(page, on.server);
    await page.getByText('Start a task').click();
    await page.locator('details.start').getByText('offline', { exact: true }).waitFor();
    expect(await found()).toEqual([]);
  });
});
