/** Tests in a browser how a person reads and edits a change: folded lines, colours, and the effect of an edit. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { askPerson, plan, write } from '../../support/offline-plan.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';
import { wholeTask } from './support/whole-task.ts';

/** The compressed size of all files of the page together. */
const MAX_PAGE_BYTES = 200_000;

test('the files of the page have less than 200 kB when they are compressed', async () => {
  let bytes = 0;
  for (const name of ['index.html', 'page.css', 'page.js'])
    bytes += gzipSync(await readFile(join(process.cwd(), 'dist', 'web', name))).length;
  expect(bytes).toBeLessThan(MAX_PAGE_BYTES);
});

const LINES = Array.from({ length: 60 }, (_, at) => `const line${at + 1} = "${at + 1}";`);
const OLD = `${LINES.join('\n')}\n`;
const PROPOSED = `${LINES.with(29, 'const proposed = 1;').join('\n')}\n`;
const EDITED = `${LINES.with(29, 'const edited = 2;').join('\n')}\n`;

describeInBrowser('a change on the page', (browser) => {
  let page: Page;
  let on: SharedStage;
  beforeEach(async () => {
    on = await sharedStage();
    page = await browser.watchedPage();
  });

  /** Returns the distance from the edited text to the button below it. The browser may scroll the page. */
  async function distance(): Promise<number> {
    const field = await page.getByLabel('The edited input').boundingBox();
    const button = await page.getByRole('button', { name: 'Approve as edited' }).boundingBox();
    return (button?.y ?? NaN) - (field?.y ?? NaN);
  }
  const state = (word: string): Promise<void> => page.locator(`article .state-${word}`).waitFor();

  test('R10 the page shows the effect of an edit on the file while the person writes', async () => {
    await writeFile(join(on.server.workspace, 'a.ts'), OLD);
    const { taskId } = await on.peer.send(plan(write('a.ts', PROPOSED), { say: 'Done.' }));
    await signIn(page, on.server, { taskId });
    await page.getByRole('button', { name: 'Edit' }).click();
    const effect = page.getByLabel('Effect of the edit');
    await effect.getByText('+const proposed = 1;').waitFor();
    const before = await distance();
    await page.getByLabel('The edited input').fill(OLD);
    await page.getByText('With this edit, the file stays as it is.').waitFor();
    await page.getByLabel('The edited input').fill(EDITED);
    await effect.getByText('+const edited = 2;').waitFor();
    await effect.getByText('-const line30 = "30";').waitFor();
    expect(await effect.getByText('proposed').count()).toBe(0);
    expect(await distance()).toBe(before);
    await page.getByRole('button', { name: 'Approve as edited' }).click();
    await state('completed');
    expect(await on.file('a.ts')).toBe(EDITED);
  });

  test('the field of an edit shows that it has the focus: its box, which scrolls, does not cut the outline', async () => {
    const { taskId } = await on.peer.send(plan(write('a.ts', PROPOSED), { say: 'Done.' }));
    await signIn(page, on.server, { taskId });
    await page.getByRole('button', { name: 'Edit' }).click();
    const field = page.getByLabel('The edited input');
    await field.press('End');
    const outside = await field.evaluate((it) => {
      const style = it.ownerDocument.defaultView?.getComputedStyle(it);
      return Number.parseFloat(style?.outlineOffset ?? '') + Number.parseFloat(style?.outlineWidth ?? '');
    });
    expect(outside).toBeLessThanOrEqual(0);
  });

  test('R10 an edit keeps the line breaks of Windows', async () => {
    await writeFile(join(on.server.workspace, 'a.txt'), 'one\r\ntwo\r\n');
    const { taskId } = await on.peer.send(plan(write('a.txt', 'one\r\nthree\r\n'), { say: 'Done.' }));
    await signIn(page, on.server, { taskId });
    await page.getByRole('button', { name: 'Edit' }).click();
    const edit = page.getByLabel('The edited input');
    await edit.press('End');
    await edit.pressSequentially(', more');
    await page.getByLabel('Effect of the edit').getByText('+one, more').waitFor();
    await page.getByRole('button', { name: 'Approve as edited' }).click();
    await state('completed');
    expect(await on.file('a.txt')).toBe('one, more\r\nthree\r\n');
  });

  test('D2 R10 if the file changes during an edit, the page shows the current change and keeps the edit', async () => {
    await writeFile(join(on.server.workspace, 'a.ts'), OLD);
    const { taskId } = await on.peer.send(plan(write('a.ts', PROPOSED), { say: 'Done.' }));
    await signIn(page, on.server, { taskId });
    await page.getByRole('button', { name: 'Edit' }).click();
    const edit = page.getByLabel('The edited input');
    await edit.fill(EDITED);
    await writeFile(join(on.server.workspace, 'a.ts'), `${OLD}const last = 1;\n`);
    await page.getByRole('button', { name: 'Approve as edited' }).click();
    await page.getByText('What was shown before has changed since.').waitFor();
    await page.getByRole('alert').getByText('is not what was shown').waitFor();
    // The browser logs the refused request.
    expect(browser.problems.splice(0)).toHaveLength(1);
    expect(await edit.inputValue()).toBe(EDITED);
    const effect = page.getByLabel('Effect of the edit');
    await effect.getByText('-const last = 1;').waitFor();
    await page.getByRole('button', { name: 'Approve as edited' }).click();
    await state('completed');
    expect(await on.file('a.ts')).toBe(EDITED);
  });

  test('a reason, an edit and a message stay while the person looks at another task', async () => {
    const waiting = await on.peer.send(plan({ together: [write('a.ts', PROPOSED), write('b.ts', OLD)] }));
    const ended = await on.peer.send(plan({ say: 'Said.' }));
    await signIn(page, on.server, { taskId: waiting.taskId });
    const action = (title: string): Locator => page.getByRole('region', { name: title });
    await action('Write a.ts').getByLabel('Reason for the denial').fill('not this file');
    await action('Write b.ts').getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('The edited input').fill(EDITED);
    const open = (taskId: string): Promise<void> => page.locator(`nav a[href="#task=${taskId}"]`).click();
    await open(ended.taskId);
    await page.getByLabel('Message to the agent').fill('one more thing');
    await open(waiting.taskId);
    expect(await action('Write a.ts').getByLabel('Reason for the denial').inputValue()).toBe('not this file');
    expect(await action('Write b.ts').getByLabel('The edited input').inputValue()).toBe(EDITED);
    await page.getByLabel('Effect of the edit').getByText('+const edited = 2;').waitFor();
    await open(ended.taskId);
    expect(await page.getByLabel('Message to the agent').inputValue()).toBe('one more thing');
    await open(waiting.taskId);
    await action('Write b.ts').getByRole('button', { name: 'Approve as edited' }).click();
    await action('Write b.ts').getByText('You edited and approved this.').waitFor();
    await action('Write a.ts').getByRole('button', { name: 'Deny' }).click();
    await state('completed');
    expect(await on.file('b.ts')).toBe(EDITED);
    const { overview } = await on.peer.task(waiting.taskId);
    expect(overview.calls.map((call) => call.state)).toEqual(['denied', 'ok']);
  });

  test('a half-filled answer stays while the person looks at another task', async () => {
    const question = { question: 'Which colours?', choices: [{ label: 'red' }, { label: 'blue' }] };
    const asked = await on.peer.send(
      plan(
        { tool: 'ask-person', input: { ...question, multiple: true, freeText: true } },
        { say: 'Thanks.' },
      ),
    );
    const ended = await on.peer.send(plan({ say: 'Said.' }));
    await signIn(page, on.server, { taskId: asked.taskId });
    const open = (taskId: string): Promise<void> => page.locator(`nav a[href="#task=${taskId}"]`).click();
    await page.getByLabel('blue').check();
    await page.getByLabel('Your answer').fill('but dark');
    await open(ended.taskId);
    await state('completed');
    await open(asked.taskId);
    expect(await page.getByLabel('Your answer').inputValue()).toBe('but dark');
    expect(await page.getByLabel('blue').isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Answer' }).click();
    await state('completed');
    // The agent gets the choice and the text, and repeats them.
    await page
      .getByRole('group', { name: 'Text of the agent' })
      .getByText(/^blue\s*but dark$/)
      .waitFor();
  });

  test('D5 a list in a form shows its choices, and the person ticks several', async () => {
    const { taskId } = await on.peer.send(plan(askPerson('Which days?', ['any']), { say: 'Thanks.' }));
    const days = { type: 'array', title: 'Days\u{202e}', items: { enum: ['Monday', 'Sunday, noon'] } };
    // The question becomes one of an MCP server, with a form.
    await page.route(`**/page/api/tasks/${taskId}`, async (route) => {
      const task = await (await route.fetch()).text();
      const schema = JSON.stringify({ type: 'object', properties: { days } });
      await route.fulfill({ body: task.replaceAll('"choices":[{"label":"any"}]', `"schema":${schema}`) });
    });
    let sent = '';
    await page.route('**/message:send', (route) => {
      sent = route.request().postData() ?? '';
      return route.continue();
    });
    await signIn(page, on.server, { taskId });
    const list = page.getByRole('group', { name: 'Days\\u{202e}' });
    await list.getByLabel('Sunday, noon').check();
    await list.getByLabel('Monday').check();
    await page.getByRole('button', { name: 'Answer' }).click();
    // The real question has no form, so the server refuses the answer.
    await page.getByRole('alert').waitFor();
    expect(browser.problems.splice(0)).toHaveLength(1);
    expect(sent).toContain('"answer":{"days":["Sunday, noon","Monday"]}');
  });

  test('a typed answer takes the place of the one choice', async () => {
    const question = { question: 'Which colour?', choices: [{ label: 'red' }], freeText: true };
    const { taskId } = await on.peer.send(plan({ tool: 'ask-person', input: question }, { say: 'Thanks.' }));
    await signIn(page, on.server, { taskId });
    await page.getByLabel('red').check();
    await page.getByPlaceholder('In other words, instead of a choice').fill('a dark red');
    expect(await page.getByLabel('red').isChecked()).toBe(false);
    await page.getByLabel('red').check();
    await page.getByText('Your choice is sent, without the text.').waitFor();
    await page.getByLabel('Your answer').fill('a darker red');
    expect(await page.getByLabel('red').isChecked()).toBe(false);
    await page.getByText('Your choice is sent').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Answer' }).click();
    await state('completed');
  });

  test('an edit of a JSON input shows the changed lines, and an error if it is no JSON object', async () => {
    const edit = { path: 'a.md', oldText: 'one', newText: 'two' };
    await writeFile(join(on.server.workspace, 'a.md'), 'one\n');
    const { taskId } = await on.peer.send(plan({ tool: 'edit-file', input: edit }, { say: 'Done.' }));
    await signIn(page, on.server, { taskId });
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('You have not changed anything yet.').waitFor();
    await page.getByRole('button', { name: 'As JSON', exact: true }).click();
    await page.getByLabel('The edited input').fill('[]');
    await page.getByRole('button', { name: 'Approve as edited' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('The edited input').fill(JSON.stringify({ ...edit, newText: 'three' }, null, 2));
    await page.getByLabel('Effect of the edit').getByText('"three"').waitFor();
    await page.getByRole('button', { name: 'Approve as edited' }).click();
    await state('completed');
    expect(await on.file('a.md')).toBe('three\n');
  });

  test('a diff folds its unchanged lines, a press opens them and goes to the first, and words of the code have colours', async () => {
    await writeFile(join(on.server.workspace, 'a.ts'), OLD);
    const { taskId } = await on.peer.send(plan(write('a.ts', PROPOSED)));
    await signIn(page, on.server, { taskId });
    const diff = page.getByLabel('Preview');
    await diff.getByText('+const proposed = 1;').waitFor();
    expect(await diff.locator('.code-keyword').first().textContent()).toBe('const');
    expect(await diff.getByText('const line1 =').count()).toBe(0);
    await wholeTask(page);
    await diff.getByRole('button', { name: '… 26 unchanged lines' }).press('Enter');
    await diff.getByText('const line1 = "1";').waitFor();
    expect(await page.locator(':focus').textContent()).toBe('11 const line1 = "1";');
    await page.locator('#page:not([data-changing])').waitFor();
    await diff.getByRole('button', { name: 'Side by side' }).click();
    await page.locator('#page:not([data-changing])').waitFor();
    await diff.getByRole('button', { name: '… 27 unchanged lines' }).click();
    await diff.getByText('const line60 = "60";').nth(1).waitFor();
    expect(await page.locator(':focus').textContent()).toContain('const line34 =');
  });

  test('the lines that a person has opened stay open while the person writes', async () => {
    await writeFile(join(on.server.workspace, 'a.ts'), OLD);
    const { taskId } = await on.peer.send(plan(write('a.ts', PROPOSED)));
    await signIn(page, on.server, { taskId });
    await page.getByRole('button', { name: 'Edit' }).click();
    const effect = page.getByLabel('Effect of the edit');
    await effect.getByRole('button', { name: '… 26 unchanged lines' }).click();
    await effect.getByText('const line1 = "1";').waitFor();
    await page.getByLabel('The edited input').fill(`// new\n${EDITED}`);
    await effect.getByText('+const edited = 2;').waitFor();
    expect(await effect.getByText('const line10 = "10";').count()).toBe(1);
    expect(await effect.locator('.fold').allTextContents()).toEqual(['… 27 unchanged lines']);
  });

  test('X3 code that looks like markup stays text in the diff, in the command and in the effect of an edit', async () => {
    const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202e';
    await writeFile(join(on.server.workspace, 'a.html'), '<p>\n');
    const calls = [
      write('a.html', evil),
      { tool: 'run-shell-command', input: { command: `echo '${evil}'` } },
    ];
    const { taskId } = await on.peer.send(plan({ together: calls }));
    await signIn(page, on.server, { taskId });
    await page.getByLabel('Preview').first().getByText('onerror').first().waitFor();
    await page.getByRole('button', { name: 'Edit' }).first().click();
    await page.getByLabel('Effect of the edit').getByText('onerror').first().waitFor();
    expect(await page.locator('article img, article script').count()).toBe(0);
    expect(await page.getByText('\\u{202e}').count()).toBeGreaterThanOrEqual(3);
    expect(await page.title()).not.toMatch(/^[12]$/);
  });
});
