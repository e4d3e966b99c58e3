/** The story of a task on the page, in a browser. */
import { readFile } from 'node:fs/promises';
import { beforeEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { checkSealedReceipt } from '../../../shared/receipt/seal.ts';
import type { StoryEvent, StoryPage } from '../../../shared/protocol/task-story.ts';
import { makeGate } from '../../support/gate.ts';
import { plan, shell, type PlannedStep } from '../../support/offline-plan.ts';
import { signal } from '../../support/signal.ts';
import { sharedStage, type PrincipalStage } from '../../support/shared-stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { longStory } from './support/long-story.ts';
import { signIn } from './support/sign-in.ts';

describeInBrowser('the story of a task on the page', (browser) => {
  let page: Page;
  let on: PrincipalStage;

  beforeEach(async () => {
    on = await sharedStage();
  });

  async function shown(...steps: PlannedStep[]): Promise<string> {
    const { taskId } = await on.peer.send(plan(...steps));
    page = await browser.watchedPage();
    await signIn(page, on.server);
    return taskId;
  }
  const story = () => page.getByRole('region', { name: 'Story' });
  const state = (word: string): Promise<void> => page.locator(`article .state-${word}`).waitFor();

  test('the story shows the prompt, and a call with its input, its decision and its result', async () => {
    await shown(shell('echo from the tool'), { say: 'All **done**.' });
    await story().getByText('Message over A2A').waitFor();
    await story().getByText('waits', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await state('completed');
    const call = story().locator('.step-call');
    await call.getByText('done', { exact: true }).waitFor();
    await call.locator('summary').click();
    await call.getByText(`Approved by ${on.principal} on an approval page`).waitFor();
    expect(await call.getByLabel('Result').textContent()).toContain('from the tool');
    expect(await call.locator('.field code').first().textContent()).toBe('echo from the tool');
    expect(await story().locator('.markdown strong').textContent()).toBe('done');
    await story().getByText('The task ended:').waitFor();
  });

  test('the story shows the output of a tool while it runs', async () => {
    await shown(shell('echo first; sleep 90; echo second'));
    await page.getByRole('button', { name: 'Approve' }).click();
    await story().getByLabel('Live output').getByText('first').waitFor();
    expect(await story().getByText('second', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Abort' }).click();
    await page.getByRole('button', { name: 'Yes, stop it' }).click();
    await story().getByText('stopped', { exact: true }).waitFor();
  });

  test('the page says model, mode and directory, and asks before it cancels the task', async () => {
    const taskId = await shown(shell('sleep 600'));
    const about = page.getByRole('region', { name: 'About this task' });
    await about.getByText('asks before each change').waitFor();
    await about.getByText(on.server.workspace).waitFor();
    await about.getByText('offline').waitFor();
    await page.getByRole('button', { name: 'Cancel the task' }).click();
    await page.getByRole('button', { name: 'Keep it' }).click();
    await page.getByRole('button', { name: 'Cancel the task' }).click();
    expect((await on.peer.task(taskId)).state).toBe('INPUT_REQUIRED');
    await page.getByRole('button', { name: 'Yes, cancel it' }).click();
    await state('canceled');
    await story().getByText('The task ended: cancelled').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel the task' }).count()).toBe(0);
  });

  test('a person can revoke a grant on the page; the next call then waits', async () => {
    const gate = await makeGate(on.server.workspace);
    await shown(shell('echo one'), shell(gate.wait), shell('echo three'));
    await page.getByLabel('Scope of the approval').selectOption('tool');
    await page.getByRole('button', { name: 'Approve' }).click();
    const grants = page.getByRole('region', { name: 'Grants' });
    await grants.getByText(`run-shell-command, by ${on.principal} on an approval page`).waitFor();
    let revocations = 0;
    const clicked = signal();
    await page.route('**/message:send', async (route) => {
      revocations += 1;
      await clicked.happened;
      await route.continue();
    });
    const revoke = grants.getByRole('button', { name: 'Revoke' });
    await revoke.dblclick();
    await revoke.click();
    clicked.happen();
    await grants.waitFor({ state: 'detached' });
    expect(revocations).toBe(1);
    await gate.pass();
    await page.getByLabel('Preview').getByText('echo three').waitFor();
    await story()
      .getByText(/^A grant was revoked by .+ on an approval page/)
      .waitFor();
  });

  test('a message on the page reaches the agent; after the end, it starts the next task of the session', async () => {
    const gate = await makeGate(on.server.workspace);
    await shown(shell(gate.wait), { say: 'First.' });
    await page.getByRole('button', { name: 'Approve' }).click();
    const message = page.getByLabel('Message to the agent');
    await message.fill('and one more thing');
    const request = signal();
    await page.route('**/message:send', async (route) => {
      await request.happened;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Send the message' }).click();
    // The person writes on during the request.
    await message.pressSequentially(', and this');
    request.happen();
    await story().getByText('and one more thing').waitFor();
    expect(await message.inputValue()).toBe('and one more thing, and this');
    await page.unroute('**/message:send');
    await gate.pass();
    await state('completed');
    const before = page.url();
    await page.getByLabel('Message to the agent').fill(plan({ say: 'The next task.' }));
    await page.getByRole('button', { name: 'Send the message' }).click();
    await story().locator('.markdown').getByText('The next task.').waitFor();
    expect(page.url()).not.toBe(before);
  });

  test('the receipt that the page saves is unchanged since the server signed it', async () => {
    const taskId = await shown({ say: 'Said.' });
    await state('completed');
    for (const [format, name] of [
      ['Markdown', `receipt-${taskId}.md`],
      ['JSON', `receipt-${taskId}.json`],
    ] as const) {
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: `Receipt as ${format}` }).click();
      const download = await saved;
      expect(download.suggestedFilename()).toBe(name);
      const text = await readFile(await download.path(), 'utf8');
      expect(checkSealedReceipt(text).taskId).toBe(taskId);
      expect(() => checkSealedReceipt(text.replace('completed', 'failed'))).toThrow();
    }
  });

  test('X3 hostile Markdown of an agent makes no element but text and safe links, and loads nothing', async () => {
    const requests: string[] = [];
    const say = [
      '# <script>document.title="x"</script>',
      '<img src="http://127.0.0.1:9/a.png" onerror="document.title=1"><iframe src="http://127.0.0.1:9/"></iframe>',
      '![pixel](http://127.0.0.1:9/pixel.png)',
      '[safe](https://good.example/path) [bad](javascript:document.title=2) [data](data:text/html,x)',
      '[bank.example](https://evil.example)',
      '<https://bank.example@evil.example> [x]: javascript:alert(1)',
      `${'> '.repeat(30)}deep`,
      'a\u202Eb',
      '| a | <b onmouseover=alert(1)> |\n|---|---|\n| 1 | [t](vbscript:x) |',
    ].join('\n\n');
    await shown({ say });
    // A reload during the sign-in would lose the code of the link.
    await state('completed');
    page.on('request', (request) => requests.push(request.url()));
    await page.reload();
    await story().locator('.markdown').getByText('safe').waitFor();
    const tags = await story().evaluate((it) => [
      ...new Set(Array.from(it.querySelectorAll('.markdown *, .plain *'), ({ tagName }) => tagName)),
    ]);
    expect(
      tags.filter((tag) => ['SCRIPT', 'IMG', 'IFRAME', 'STYLE', 'OBJECT', 'FORM'].includes(tag)),
    ).toEqual([]);
    const links = await story()
      .locator('a')
      .evaluateAll((all) => all.map((it) => [it.getAttribute('href'), it.getAttribute('rel')]));
    expect(links).toEqual([
      ['http://127.0.0.1:9/pixel.png', 'noopener noreferrer'],
      ['https://good.example/path', 'noopener noreferrer'],
      ['https://evil.example/', 'noopener noreferrer'],
    ]);
    const text = await story().innerText();
    expect(text).toContain('<script>document.title="x"</script>');
    expect(text).toContain('bank.example (evil.example)');
    expect(text).toContain('a\\u{202e}b');
    expect(await page.title()).toBe('Approvals');
    expect(requests.filter((url) => new URL(url).origin !== on.server.url)).toEqual([]);
    expect(await story().locator('[onerror], [onmouseover], [onload], [style]').count()).toBe(0);
  });

  test('X3 Markdown with thousands of levels is plain text', async () => {
    await shown({ say: `${'> '.repeat(20_000)}deep` });
    await story().getByLabel('Text of the agent').locator('p.plain').getByText('deep').waitFor();
  });

  test('after a reload, the page shows the same step at the same place', async () => {
    const steps = Array.from({ length: 12 }, (_, n) => [
      { say: `${'word '.repeat(400)} number ${n}.` },
      { tool: 'read-file', input: { path: `missing-${n}` } },
    ]);
    await shown(...steps.flat());
    await state('completed');
    const step = page.locator('.markdown').getByText('number 7.');
    await step.waitFor();
    await step.scrollIntoViewIfNeeded();
    const top = (): Promise<number> => step.evaluate((it) => it.getBoundingClientRect().top);
    const before = await top();
    expect(before).toBeGreaterThan(0);
    await page.reload();
    // The page scrolls in several frames, because the browser lays out distant steps later.
    await step.evaluate(
      (it, wanted) =>
        new Promise<void>((resolve) => {
          const check = (): void => {
            if (Math.abs(it.getBoundingClientRect().top - wanted) < 2) resolve();
            else setTimeout(check, 20);
          };
          check();
        }),
      before,
    );
  });

  test('the story folds the reasoning of the model, and shows the to-do list and its changes', async () => {
    const at = Date.UTC(2026, 0, 1);
    const said: StoryEvent[] = [
      { type: 'reasoning', seq: 1, at, turn: 1, text: '<b>I think</b> \u202e' },
      { type: 'todos', seq: 2, at, todos: [{ text: 'read', status: 'in_progress' }] },
      { type: 'todos', seq: 3, at, todos: [{ text: 'read', status: 'done' }] },
    ];
    await shownStory(said);
    const thought = story().locator('.step-reasoning');
    await thought.getByText('Reasoning of the model, not part of the answer').waitFor();
    expect(await thought.getByText('I think').count()).toBe(0);
    await thought.locator('summary').click();
    await thought.getByText('<b>I think</b> \\u{202e}').waitFor();
    await page.getByRole('region', { name: 'To-do list' }).getByText('1 of 1 done').waitFor();
    await story().getByText('To-do list: 0 of 1 done').waitFor();
    await story().locator('.step-todos').last().getByRole('img', { name: 'done' }).waitFor();
  });

  /** The page reads this story in place of the server's. */
  async function shownStory(events: readonly StoryEvent[]): Promise<void> {
    on = await sharedStage();
    await on.peer.send(plan({ say: 'Said.' }));
    page = await browser.watchedPage();
    await page.route('**/story?after=*', (route) => {
      const after = Number(new URL(route.request().url()).searchParams.get('after'));
      const part = events.slice(after, after + 2_000);
      const seq = after + part.length;
      return route.fulfill({ json: { events: part, seq, more: seq < events.length } satisfies StoryPage });
    });
    await signIn(page, on.server);
  }

  test('a story of 3,000 events begins with its newest 200 steps, and the page draws earlier steps after a click', async () => {
    await shownStory(longStory(750));
    await story().getByText('Call 749').waitFor();
    const steps = page.locator('.step');
    expect(await steps.count()).toBe(200);
    const nodes = async (): Promise<number> => page.locator('#page *').count();
    expect(await nodes()).toBeLessThan(200 * 10);
    expect(await story().getByText('Call 0', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show 200 earlier steps of 550' }).click();
    await page.getByRole('button', { name: 'Show 200 earlier steps of 350' }).waitFor();
    expect(await steps.count()).toBe(400);
  });
});
