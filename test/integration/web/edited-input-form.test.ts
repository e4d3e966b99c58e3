/** Tests in a browser how a person edits the input of an MCP server's tool in a form. */
import { beforeEach, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { storyPageSchema } from '../../../shared/protocol/task-story.ts';
import { bundleProgram } from '../../../scripts/bundle-program.mjs';
import { untilMcpServerIsReady } from '../../support/mcp-server-ready.ts';
import { plan } from '../../support/offline-plan.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';

const ORDER = {
  note: 'line one\nline two',
  product: 'tea',
  count: 3,
  price: null,
  urgent: false,
  size: 'small',
  address: { city: 'Bern' },
};

describeInBrowser('the form for the input of a tool', (browser) => {
  let page: Page;
  let on: SharedStage;
  beforeEach(async () => {
    const program = await bundleProgram('test/support/mcp-peer/form-program.ts', { withPackages: true });
    const shop = { command: process.execPath, args: [program] };
    on = await sharedStage({ mcpServers: { shop } });
    await untilMcpServerIsReady(on.peer, 'shop');
    page = await browser.watchedPage();
  });

  const form = (): Locator => page.getByRole('group', { name: 'The edited input' });
  const field = (name: RegExp): Locator => form().getByLabel(name);
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const state = (word: string): Promise<void> => page.locator(`article .state-${word}`).waitFor();

  /** Starts a task that waits with this input, and opens the editor. */
  async function edited(input: Record<string, unknown>): Promise<string> {
    const { taskId } = await on.peer.send(plan({ tool: 'mcp__shop__order', input }, { say: 'Done.' }));
    await signIn(page, on.server, { taskId });
    await button('Edit').click();
    return taskId;
  }
  /** Approves the edit. @returns the input that the MCP server got */
  async function ordered(taskId: string): Promise<unknown> {
    await button('Approve as edited').click();
    await state('completed');
    const response = await fetch(`${on.server.url}/api/tasks/${taskId}/story`, {
      headers: { authorization: `Bearer ${on.server.token}` },
    });
    const { events } = storyPageSchema.parse(await response.json());
    const [result = ''] = events.flatMap((event) => (event.type === 'finished' ? [event.result] : []));
    return JSON.parse(result.replace('ordered: ', ''));
  }

  test('each property has a labelled field; the server gets the changed values, and the others unchanged', async () => {
    const taskId = await edited(ORDER);
    await field(/^Product \(product\) required/).waitFor();
    expect(await form().locator('label').allTextContents()).toEqual([
      'Product (product) required',
      'note optional',
      'count required',
      'price optional',
      'urgent optional',
      'size optional',
      'address JSON, optional',
      'code optional',
    ]);
    expect(await field(/^note/).evaluate((it) => it.tagName)).toBe('TEXTAREA');
    expect(await field(/^note/).inputValue()).toBe(ORDER.note);
    await page.getByText('You have not changed anything yet.').waitFor();
    await field(/^Product/).fill('coffee');
    await field(/^count/).fill('5');
    await field(/^price/).fill('2.50');
    await field(/^urgent/).selectOption('yes');
    await field(/^size/).selectOption('left out');
    await field(/^address/).fill('{"city": "Basel"}');
    await page.getByLabel('Effect of the edit').getByText('"Basel"').waitFor();
    // The order of the properties is the proposed one, so the comparison shows only changes.
    expect(await page.getByLabel('Effect of the edit').locator('tr.removed').count()).toBe(6);
    const { size: _size, ...others } = ORDER;
    expect(await ordered(taskId)).toEqual({
      ...others,
      product: 'coffee',
      count: 5,
      price: 2.5,
      urgent: true,
      address: { city: 'Basel' },
    });
  });

  test('invalid input is said at its field and is not sent; the server checks the rest', async () => {
    const taskId = await edited(ORDER);
    await field(/^Product/).fill('t');
    await field(/^count/).fill('11');
    await field(/^address/).fill('{');
    const alert = (text: string): Locator => form().getByRole('alert').getByText(text);
    await alert('Write a number of at most 10.').waitFor();
    await alert('Write at least 2 characters, not 1.').waitFor();
    await field(/^count/).fill('');
    await page.locator('#page:not([data-changing])').waitFor();
    await button('Approve as edited').click();
    await alert('This field is required.').waitFor();
    await alert('This is not valid JSON').waitFor();
    expect(await field(/^count/).getAttribute('aria-invalid')).toBe('true');
    expect((await on.peer.task(taskId)).state).toBe('INPUT_REQUIRED');
    await field(/^Product/).fill('coffee');
    await field(/^count/).fill('many');
    await alert('Write a number.').waitFor();
    await field(/^count/).fill('2.5');
    await alert('Write a whole number.').waitFor();
    await field(/^count/).fill('2');
    await field(/^address/).fill('{"city": 7}');
    await field(/^code/).fill('lower');
    expect(await form().getByRole('alert').count()).toBe(0);
    await button('Approve as edited').click();
    await page.getByRole('alert').getByText('does not fit').waitFor();
    expect((await on.peer.task(taskId)).state).toBe('INPUT_REQUIRED');
    // The browser logs the refused request.
    expect(browser.problems.splice(0)).toHaveLength(1);
  });

  test('"As JSON" shows the filled form, and "As a form" the changed JSON', async () => {
    const taskId = await edited({ product: 'tea', count: 1, extra: [1] });
    await field(/^extra JSON/).waitFor();
    await field(/^count/).fill('2');
    await button('As JSON').click();
    const json = page.getByRole('textbox', { name: 'The edited input' });
    expect(JSON.parse(await json.inputValue())).toEqual({ product: 'tea', count: 2, extra: [1] });
    await json.fill('[]');
    await page.locator('#page:not([data-changing])').waitFor();
    await button('As a form').click();
    await page.getByRole('alert').getByText('The input is a JSON object.').waitFor();
    await json.fill('{"product": "milk", "count": 4}');
    await page.locator('#page:not([data-changing])').waitFor();
    await button('As a form').click();
    expect(await field(/^Product/).inputValue()).toBe('milk');
    expect(await ordered(taskId)).toEqual({ product: 'milk', count: 4 });
  });

  test('R93 X3 a hostile schema and a hostile value stay text, and hidden characters are visible', async () => {
    await edited({ product: 'a\u202eb', count: 1, '<b>': '"><script>document.title=2</script>' });
    await form().getByText('<img src=x onerror="document.title=1">\\u{202e}').waitFor();
    expect(await field(/^Product/).inputValue()).toBe('"a\\u202eb"');
    expect(await field(/^<b>/).inputValue()).toBe('"\\"><script>document.title=2</script>"');
    expect(await page.locator('article img, article script').count()).toBe(0);
    expect(await page.title()).not.toMatch(/^[12]$/);
  });
});
