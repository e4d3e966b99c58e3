import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { z } from 'zod';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { builtBridge } from '../bridge/support/bridge-program.ts';
import { startHttpBridge } from '../bridge/support/http-bridge.ts';
import { stage, type Stage } from '../../support/stage.ts';
import { BROWSER, NO_BROWSER, servePages, startBrowser, type PageServer } from './support/browser.ts';

const report = z.object({ taskId: z.string() });

interface Beginning {
  over: 'a2a' | 'mcp';
  url: string;
  token: string;
  onUnload: 'cancel' | 'detach';
}

/** Starts, in the page, a task that runs a long command. @returns the task's id, once the command runs */
async function begin(page: Page, { peer }: Stage, beginning: Beginning): Promise<string> {
  const { taskId } = report.parse(await page.evaluate(`begin(${JSON.stringify(beginning)})`));
  const stream = await peer.follow(taskId, 0);
  await stream.until(({ activity }) => activity?.type === 'tool.started');
  stream.connection.destroy();
  return taskId;
}

/** Checks that the page cancelled the task, and that the task's command was stopped. */
async function expectLeft({ peer }: Stage, taskId: string): Promise<void> {
  const stream = await peer.follow(taskId, 0);
  await stream.until((event) => event.state === 'CANCELED');
  const { overview, statusText } = await peer.task(taskId);
  expect(overview.calls).toEqual([expect.objectContaining({ state: 'stopped' })]);
  expect(statusText).toContain('the page that started it was left');
}

/** Counts the page's unload listeners. */
const COUNTING = `
  let count = 0;
  const { addEventListener: add, removeEventListener: remove } = window;
  window.addEventListener = (type, ...rest) => { count += type === 'pagehide'; add(type, ...rest); };
  window.removeEventListener = (type, ...rest) => { count -= type === 'pagehide'; remove(type, ...rest); };
  window.listening = () => count;
`;

if (BROWSER === undefined) process.emitWarning(`skipped: ${NO_BROWSER}`);

(BROWSER === undefined ? describe.skip : describe)('the client library in a browser', () => {
  let browser: Browser;
  let pages: PageServer;
  beforeAll(async () => {
    [browser, pages] = await Promise.all([startBrowser(), servePages()]);
  });
  afterAll(async () => {
    await browser.close();
    await pages.close();
  });

  let context: BrowserContext;
  let page: Page;
  async function open(): Promise<Stage> {
    const staged = await stage({ args: ['--allow-origin', pages.origin] });
    await openPage();
    return staged;
  }
  async function openPage(): Promise<void> {
    // One browser profile serves all pages, like a person's browser.
    context = await browser.newContext();
    page = await context.newPage();
    await page.goto(pages.origin);
  }
  afterEach(() => context.close());

  test.each([
    ['goes to another page', (at: Page) => at.goto(`${pages.origin}/elsewhere`)],
    ['goes to another site', (at: Page) => at.goto('about:blank')],
    ['is loaded again', (at: Page) => at.reload()],
    ['is closed', (at: Page) => at.close({ runBeforeUnload: true })],
  ])(
    'R51 a page that %s aborts its tool execution on the server, if the page requested that',
    async (_, leave) => {
      const staged = await open();
      const taskId = await begin(page, staged, { over: 'a2a', ...staged.server, onUnload: 'cancel' });
      await leave(page);
      await expectLeft(staged, taskId);
    },
  );

  test('R51 the page aborts the same way over MCP, through a bridge that serves the page over HTTP', async () => {
    const staged = await stage();
    const { server } = staged;
    const program = await builtBridge();
    const bridge = await startHttpBridge(program, {
      stateDir: await mkdtemp(join(program.directory, 'state-')),
      agentUrl: server.url,
      token: server.token,
      args: ['--http-allow-origin', pages.origin],
    });
    try {
      await openPage();
      const { url, token } = bridge;
      const taskId = await begin(page, staged, { over: 'mcp', url, token, onUnload: 'cancel' });
      await page.goto('about:blank');
      await expectLeft(staged, taskId);
    } finally {
      await bridge.kill();
      await program.remove();
    }
  });

  test('R51 a page that did not request the abort leaves its task running', async () => {
    const staged = await open();
    const taskId = await begin(page, staged, { over: 'a2a', ...staged.server, onUnload: 'detach' });
    await page.goto('about:blank');
    const ended = await staged.peer.cancel(taskId, 'by the test');
    expect(ended.statusText).toContain('by the test');
  });

  test('R51 after the person returns to the page, it shows the outcome of its execution, and has no listener left', async () => {
    const staged = await open();
    await page.evaluate(COUNTING);
    const taskId = await begin(page, staged, { over: 'a2a', ...staged.server, onUnload: 'cancel' });
    expect(await page.evaluate('listening()')).toBe(1);
    await page.goto(`${pages.origin}/elsewhere`);
    await expectLeft(staged, taskId);
    await page.goBack({ waitUntil: 'commit' });
    // If the browser had not kept the page in its cache, the page would have no execution.
    const back = await page.evaluate(
      `execution.result.then(({ state }) => ({ state, listening: listening() }))`,
    );
    expect(back).toEqual({ state: 'canceled', listening: 0 });
  });
});
