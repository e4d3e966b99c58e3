/** Runs the tests of a suite in one browser, with contexts that end with their test. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { BROWSER, NO_BROWSER, startBrowser } from '../../client/support/browser.ts';

export interface TestBrowser {
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Returns a page in a new context. An error of its scripts or in its console fails the test. */
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
  if (BROWSER === undefined) process.emitWarning(`skipped: ${NO_BROWSER}`);
  (BROWSER === undefined ? describe.skip : describe)(name, () => {
    let browser: Browser;
    const contexts: BrowserContext[] = [];
    const problems: string[] = [];
    const newContext = async (options?: BrowserContextOptions): Promise<BrowserContext> => {
      const context = await browser.newContext(options);
      contexts.push(context);
      return context;
    };

    beforeAll(async () => {
      browser = await startBrowser(...args);
    });
    afterAll(() => browser.close());
    beforeEach(() => {
      problems.length = 0;
    });
    afterEach(async () => {
      await Promise.all(contexts.splice(0).map((context) => context.close()));
      expect(problems).toEqual([]);
    });

    suite({
      newContext,
      async watchedPage(options) {
        const page = await (await newContext(options)).newPage();
        page.on('pageerror', (error) => problems.push(error.message));
        page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
        return page;
      },
      problems,
    });
  });
}
