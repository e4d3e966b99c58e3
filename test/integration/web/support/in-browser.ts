/** Runs the tests of a suite in one browser, with contexts that end with their test. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { NO_BROWSER, PAGE_BROWSER, startBrowser } from '../../client/support/browser.ts';

/** The time for which the page ignores clicks after a change. */
const CLICK_GUARD_MS = 500;

const guarded = (page: Page): Locator => page.locator('#page[data-changing]');

/** Lets the click guard of a watched page act, for a test of the guard itself. */
export const keepClickGuard = (page: Page): Promise<void> => page.removeLocatorHandler(guarded(page));

/**
 * Closes a context. The handler of a route may still be waiting for an answer that no test needs any more, so its
 * errors from here on are no failure.
 */
async function closeContext(context: BrowserContext): Promise<void> {
  await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
  await context.close();
}

export interface TestBrowser {
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /**
   * Returns a page in a new context. An error of its scripts or in its console fails the test. Its clock moves half a
   * second forward when a click meets the click guard, so that no test waits for the guard.
   */
  watchedPage(options?: BrowserContextOptions): Promise<Page>;
  /** The errors of the watched pages. A test that expects errors empties it. */
  readonly problems: string[];
}

/**
 * Describes a suite, or skips it if no browser is installed.
 * @param args more command-line arguments of Chromium
 */
export function describeInBrowser(
  name: string,
  suite: (browser: TestBrowser) => void,
  ...args: readonly string[]
): void {
  if (PAGE_BROWSER === undefined) process.emitWarning(`skipped: ${NO_BROWSER}`);
  (PAGE_BROWSER === undefined ? describe.skip : describe)(name, () => {
    let browser: Browser;
    const contexts: BrowserContext[] = [];
    const problems: string[] = [];
    const newContext = async (options?: BrowserContextOptions): Promise<BrowserContext> => {
      // No test needs animations, and each animation draws 60 frames a second.
      const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
      contexts.push(context);
      return context;
    };

    beforeAll(async () => {
      browser = await startBrowser(PAGE_BROWSER, ...args);
    });
    afterAll(() => browser.close());
    beforeEach(() => {
      problems.length = 0;
    });
    afterEach(async () => {
      await Promise.all(contexts.splice(0).map(closeContext));
      expect(problems).toEqual([]);
    });

    suite({
      newContext,
      async watchedPage(options) {
        const page = await (await newContext(options)).newPage();
        page.on('pageerror', (error) => problems.push(error.message));
        page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
        await page.clock.install();
        await page.addLocatorHandler(guarded(page), () => page.clock.fastForward(CLICK_GUARD_MS), {
          noWaitAfter: true,
        });
        return page;
      },
      problems,
    });
  });
}
