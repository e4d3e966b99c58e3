import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { plan, type PlannedStep, write } from '../../support/offline-plan.ts';
import { PNG } from '../../support/sample-files.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { stage } from '../../support/stage.ts';
import { makeLink, signIn } from './support/sign-in.ts';
import { describeInBrowser } from './support/in-browser.ts';

describe('the approval page', () => {
  test('X1 the page’s files load without a sign-in and contain no secrets; the browser loads and runs only these files', async () => {
    const { server } = await stage();
    const icons = ['/page-icon.svg', '/page-icon-192.png', '/page-icon-512.png'];
    for (const path of ['/', '/page', '/page.js', '/page.css', '/page.webmanifest', ...icons]) {
      const answer = await fetch(`${server.url}${path}`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/,
      );
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.text()).not.toContain(server.token);
    }
    expect((await fetch(`${server.url}/tasks`)).status).toBe(401);
  });

  test('X1 the server accepts page requests of its own origin, and of no other origin on the same machine', async () => {
    const { server } = await sharedStage();
    const asked = async (origin: string): Promise<number> =>
      (
        await fetch(`${server.url}/tasks`, {
          headers: { authorization: `Bearer ${server.token}`, 'a2a-version': '1.0', origin },
        })
      ).status;
    expect(await asked(server.url)).toBe(200);
    expect(await asked('http://127.0.0.1:1')).toBe(403);
    expect(await asked(server.url.replace('127.0.0.1', 'evil.example'))).toBe(403);
  });
});

describeInBrowser('the approval page in a browser', (browser) => {
  let page: Page;
  let on: Pick<SharedStage, 'peer' | 'file' | 'server'>;

  /** A task of that plan waits, and the page shows it. */
  function shown(...steps: PlannedStep[]): Promise<string> {
    return sent(plan(...steps));
  }

  /** The page shows a task with this text. */
  async function sent(text: string): Promise<string> {
    on = await sharedStage();
    return open(text);
  }

  async function open(text: string): Promise<string> {
    const { taskId } = await on.peer.send(text);
    page = await browser.watchedPage();
    await signIn(page, on.server);
    return taskId;
  }
  const state = (word: string): Promise<void> => page.locator(`article .state-${word}`).waitFor();

  test('the page shows the image of a tool result, with its name and size', async () => {
    on = await sharedStage();
    await writeFile(join(on.server.workspace, 'dot.png'), PNG);
    const text = plan({ tool: 'read-file', input: { path: 'dot.png' } }, { say: 'Seen.' });
    await open(text);
    const image = page.locator('figure.file img');
    await image.waitFor();
    expect(await image.evaluate((it) => 'naturalWidth' in it && it.naturalWidth)).toBe(1);
    expect(await page.locator('figure.file figcaption').textContent()).toBe('dot.png (image/png, 70 bytes)');
  });

  test('R01 the page shows a waiting write as a diff; an approval there writes the file once; the page removes the code from its address', async () => {
    const taskId = await shown(
      { tool: 'write-file', input: { path: 'a.md', content: 'one\n' } },
      { say: 'Written.' },
    );
    await page.getByText('+one').waitFor();
    expect(page.url()).toBe(`${on.server.url}/page#task=${taskId}`);
    expect(await on.file('a.md')).toBeUndefined();
    await page.getByRole('button', { name: 'Approve' }).click();
    await state('completed');
    await page.getByLabel('Text of the agent').getByText('Written.').waitFor();
    expect(await on.file('a.md')).toBe('one\n');
    const { overview } = await on.peer.task(taskId);
    expect(overview.calls).toMatchObject([{ decided: { decision: 'approve', channel: 'page' } }]);
  });

  test('the page starts a task in a workspace that the server allows, and shows a refusal as a sentence', async () => {
    await shown({ tool: 'write-file', input: { path: 'a.md', content: 'x' } });
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByText('Start a task').click();
    const field = page.getByLabel('Workspace');
    await page.locator(`input[placeholder="${on.server.workspace}"]`).waitFor();
    const send = page.getByRole('button', { name: 'Send' });
    expect(await send.isDisabled()).toBe(true);
    await page.getByLabel('The task for the agent').fill(plan(write('b.md', 'two\n'), { say: 'There.' }));
    await field.fill(join(on.server.workspace, 'nowhere'));
    await send.click();
    await page.getByRole('alert').getByText('nowhere').waitFor();
    // The browser reports the refused request.
    browser.problems.length = 0;
    await field.fill(on.server.workspace);
    await send.click();
    await page.getByText('+two').waitFor();
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(360);
    await page.getByRole('button', { name: 'Approve' }).click();
    await state('completed');
    expect(await on.file('b.md')).toBe('two\n');
    await page.locator('.tasks .state-completed').waitFor();
    expect(await page.locator('.tasks li').count()).toBe(2);
  });

  test('X1 the page can start a task only with its sign-in', async () => {
    await shown({ tool: 'write-file', input: { path: 'a.md', content: 'x' } });
    const status = await page.evaluate(async () => {
      const body = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'say hi' }] } };
      const init = {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      };
      return (await fetch('page/api/message:send', init)).status;
    });
    expect(status).toBe(401);
    expect(await on.peer.list()).toHaveLength(1);
    browser.problems.length = 0;
  });

  test('R100 the page shows a task that the agent rejects as "rejected"', async () => {
    await sent('paint the moon');
    await state('rejected');
    expect(await page.locator('.tasks .state-rejected').textContent()).toBe('rejected by the agent');
    const reason = await page.locator('article .message').innerText();
    expect(reason).toMatch(/^No model is configured, .*\nTo choose a model, run in a terminal: /);
  });

  test('R02 the page sends a denial with its reason to the agent', async () => {
    const taskId = await shown(
      { tool: 'run-shell-command', input: { command: 'echo no' } },
      { say: 'Left.' },
    );
    await page.getByLabel('Reason for the denial').fill('not today');
    await page.getByRole('button', { name: 'Deny' }).click();
    await state('completed');
    const { overview } = await on.peer.task(taskId);
    expect(overview.calls.map(({ state: each }) => each)).toContain('denied');
    await page.locator('.tasks .state-incomplete', { hasText: 'completed, not all done' }).waitFor();
  });

  test('the lines of a question stay lines', async () => {
    const question = 'Which one?\n\n1. the first\n2. the second';
    await shown({ tool: 'ask-person', input: { question } });
    const text = page.locator('section.action .question');
    expect((await text.innerText()).trim()).toBe(question);
  });

  test('a person can answer a question with a choice on the page', async () => {
    const taskId = await shown({
      tool: 'ask-person',
      input: { question: 'Which colour?', choices: [{ label: 'blue' }, { label: 'green' }] },
    });
    await page.getByLabel('green').check();
    await page.getByRole('button', { name: 'Answer' }).click();
    await state('completed');
    const { overview } = await on.peer.task(taskId);
    expect(overview.calls).toEqual([expect.objectContaining({ state: 'answered' })]);
  });

  test('X3 a script of the page cannot insert markup', async () => {
    await shown({ say: 'Done.' });
    const inserted = page.evaluate(`document.body.innerHTML = '<img src=x>'`);
    await expect(inserted).rejects.toThrow(/TrustedHTML/);
    await expect(page.evaluate(`trustedTypes.createPolicy('own', {})`)).rejects.toThrow(/Policy/);
    expect(browser.problems.splice(0)).not.toEqual([]);
  });

  test('a further tab of the page needs no new sign-in; after a sign-out, each tab explains how to sign in', async () => {
    await shown({ tool: 'write-file', input: { path: 'a.md', content: 'x' } });
    const tab = await page.context().newPage();
    await tab.goto(`${on.server.url}/page`);
    await tab.getByRole('button', { name: 'Approve' }).waitFor();
    await tab.getByRole('button', { name: 'Sign out', exact: true }).click();
    const howTo = 'mcp-a2a-bridge page';
    await tab.getByText(howTo).waitFor();
    await page.getByText(howTo).waitFor();
    // A clone has no command of this name.
    await page.getByText('node dist/bridge/main.js page').waitFor();
    // The end of a stream may reach this tab before the sign-out does. Then the server refuses one reconnection.
    expect(browser.problems.filter((text) => !text.includes('401'))).toEqual([]);
    browser.problems.length = 0;
  });

  test('"Sign out everywhere" ends the sign-in of another browser too, and its page explains how to sign in', async () => {
    await shown({ tool: 'write-file', input: { path: 'a.md', content: 'x' } });
    const other = await browser.newContext();
    try {
      const elsewhere = await other.newPage();
      await signIn(elsewhere, on.server);
      await page.getByRole('button', { name: 'Sign out everywhere' }).click();
      await page.getByText('mcp-a2a-bridge page').waitFor();
      await elsewhere.getByText('mcp-a2a-bridge page').waitFor();
    } finally {
      await other.close();
    }
    // The end of a stream may arrive before the sign-out does. Then the server refuses one reconnection.
    expect(browser.problems.filter((text) => !text.includes('401'))).toEqual([]);
    browser.problems.length = 0;
  });

  test('the page keeps a link valid if a scanner only opens it; the second use is refused with an explanation', async () => {
    await shown({ tool: 'write-file', input: { path: 'a.md', content: 'x' } });
    const link = await makeLink(on.server);
    await fetch(link);
    const other = await browser.newContext();
    try {
      const first = await other.newPage();
      await first.goto(link);
      await first.getByRole('button', { name: 'Sign in' }).click();
      await first.getByRole('button', { name: 'Approve' }).waitFor();
      const fresh = await other.browser()?.newContext();
      const second = await fresh?.newPage();
      await second?.goto(link);
      await second?.getByRole('button', { name: 'Sign in' }).click();
      await second?.getByText('used up or too old').waitFor();
      await second?.getByText('Run "mcp-a2a-bridge page" for a new one.').waitFor();
      // The tab already has the page. So a new link changes only the fragment.
      await second?.goto(await makeLink(on.server));
      await second?.getByRole('button', { name: 'Sign in' }).click();
      await second?.getByRole('button', { name: 'Approve' }).waitFor();
      expect(second?.url()).not.toContain('code=');
      await fresh?.close();
    } finally {
      await other.close();
    }
  });

  test('in a tab whose cookie is lost, a new link signs in again', async () => {
    await shown({ tool: 'write-file', input: { path: 'a.md', content: 'x' } });
    await page.context().clearCookies();
    await page.goto(await makeLink(on.server));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    // The browser reports the request that the server refused.
    browser.problems.length = 0;
  });

  test('the page keeps its sign-in across a restart of the server', async () => {
    const own = await stage();
    on = own;
    await open(plan({ tool: 'write-file', input: { path: 'a.md', content: 'x' } }));
    const { port } = new URL(own.server.url);
    await own.server.stop();
    const next = await stage({ home: own.server, args: ['--port', port] });
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).click();
    await state('completed');
    expect(await next.file('a.md')).toBe('x');
    // The browser reports the requests that failed without a server.
    browser.problems.length = 0;
  });

  test('follows the task again after an outage of any length, and says how old its picture is', async () => {
    const own = await stage();
    on = own;
    await open(plan({ tool: 'write-file', input: { path: 'a.md', content: 'x' } }, { say: 'Written.' }));
    const approve = page.getByRole('button', { name: 'Approve' });
    await approve.waitFor();
    const { port } = new URL(own.server.url);
    await own.server.stop();
    await page.getByRole('status').getByText('No connection since').waitFor();
    // The age changes each second. A screen reader would read the banner again each time.
    expect(await page.getByRole('status').ariaSnapshot()).not.toContain('ago');
    // The client gives up after 8 attempts. The page then tries again by itself.
    for (let minute = 0; minute < 3; minute += 1) await page.clock.runFor('01:00');
    await page.getByRole('status').getByText('minutes ago').waitFor();
    // The banner pushes the action down. It does not repeat its first words with the address of a request.
    expect(await page.getByRole('status').textContent()).not.toContain('could not be reached');
    await approve.click();
    // The client sends the decision several times before it gives up. If the server came back before that, the decision
    // would arrive, and there would be no second click.
    const refused = page.getByRole('article').getByRole('alert').getByText('could not be reached');
    while ((await refused.count()) === 0) await page.clock.runFor(1_000);
    const next = await stage({ home: own.server, args: ['--port', port] });
    while ((await page.getByRole('status').count()) > 0) await page.clock.runFor(1_000);
    await approve.click();
    await state('completed');
    expect(await next.file('a.md')).toBe('x');
    browser.problems.length = 0;
  });
});
