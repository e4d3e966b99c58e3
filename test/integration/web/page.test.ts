import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { plan, type PlannedStep } from '../../support/offline-plan.ts';
import { stage, type Stage } from '../../support/stage.ts';
import { BROWSER, NO_BROWSER, startBrowser } from '../client/support/browser.ts';

describe('the approval page', () => {
  test('X1 its files need no token, hold none, and let nothing run or load but themselves', async () => {
    const { server } = await stage();
    for (const path of ['/', '/page.js', '/page.css']) {
      const answer = await fetch(`${server.url}${path}`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
      );
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(await answer.text()).not.toContain(server.token);
    }
    expect((await fetch(`${server.url}/tasks`)).status).toBe(401);
  });

  test('X1 its own origin may ask, another on this machine may not', async () => {
    const { server } = await stage();
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

if (BROWSER === undefined) process.emitWarning(`skipped: ${NO_BROWSER}`);

(BROWSER === undefined ? describe.skip : describe)('the approval page in a browser', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let on: Stage;
  const problems: string[] = [];
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  /** A task of that plan waits, and the page shows it. */
  async function shown(...steps: PlannedStep[]): Promise<string> {
    on = await stage();
    const { taskId } = await on.peer.send(plan(...steps));
    context = await browser.newContext();
    page = await context.newPage();
    problems.length = 0;
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(`${on.server.url}/#token=${on.server.token}`);
    return taskId;
  }
  afterEach(async () => {
    await context.close();
    expect(problems).toEqual([]);
  });
  const state = (word: string): Promise<void> => page.locator(`article .state-${word}`).waitFor();

  test('R01 what waits is shown as a diff, and approved there it is written, once; the token is gone from the address', async () => {
    const taskId = await shown(
      { tool: 'write-file', input: { path: 'a.md', content: 'one\n' } },
      { say: 'Written.' },
    );
    await page.getByText('+one').waitFor();
    expect(page.url()).toBe(`${on.server.url}/`);
    expect(await on.file('a.md')).toBeUndefined();
    await page.getByRole('button', { name: 'Approve' }).click();
    await state('completed');
    await page.getByLabel('What the agent said').getByText('Written.').waitFor();
    expect(await on.file('a.md')).toBe('one\n');
    const { overview } = await on.peer.task(taskId);
    expect(overview.calls).toMatchObject([{ decided: { decision: 'approve', channel: 'page' } }]);
  });

  test('R02 denied with a reason, the agent is told', async () => {
    const taskId = await shown(
      { tool: 'run-shell-command', input: { command: 'echo no' } },
      { say: 'Left.' },
    );
    await page.getByLabel('Why it is denied').fill('not today');
    await page.getByRole('button', { name: 'Deny' }).click();
    await state('completed');
    const { overview } = await on.peer.task(taskId);
    expect(overview.calls.map(({ state: each }) => each)).toContain('denied');
  });

  test('R10 edited there, what runs is what the person wrote', async () => {
    await shown({ tool: 'run-shell-command', input: { command: 'echo one > out.txt' } });
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('What runs in its place').fill('echo two > out.txt');
    await page.getByRole('button', { name: 'Run it so' }).click();
    await state('completed');
    expect(await on.file('out.txt')).toBe('two\n');
  });

  test('a question is answered by a choice', async () => {
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

  test('X3 what an agent writes is text there, and nothing of it runs', async () => {
    const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    await shown({ tool: 'write-file', input: { path: 'a.html', content: evil } });
    await page.getByLabel('Preview').getByText('onerror').waitFor();
    expect(await page.locator('article img, article script').count()).toBe(0);
    expect(await page.title()).toBe('(1) Approvals');
  });

  test('a token that is refused is asked for again', async () => {
    await shown({ tool: 'write-file', input: { path: 'a.md', content: 'x' } });
    await page.evaluate('sessionStorage.setItem("token", "wrong-token-wrong-token")');
    await page.reload();
    await page.getByText('does not take this token').waitFor();
    await page.getByLabel('Token').fill(on.server.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    // The browser tells of the refusal by itself.
    problems.length = 0;
  });
});
