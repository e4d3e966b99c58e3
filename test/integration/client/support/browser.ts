/** Finds an installed browser, and opens pages in it from an origin of their own. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import type * as Playwright from 'playwright-core';
import { listenOnLoopback } from '../../../support/listen-on-loopback.ts';

const { CHROMIUM } = process.env;
const CHROME = ['/usr/bin/chromium', '/usr/bin/google-chrome'];
/** Chromium without its windows. It takes a third less CPU time, and has no back/forward cache. */
const SHELL = '/usr/bin/chromium-headless-shell';

const firstInstalled = (...paths: readonly (string | undefined)[]): string | undefined =>
  paths.find((path) => path !== undefined && existsSync(path));

/** A browser as people use it. */
export const BROWSER = firstInstalled(CHROMIUM, ...CHROME);
/** The cheapest browser that draws the pages. */
export const PAGE_BROWSER = firstInstalled(CHROMIUM, SHELL, ...CHROME);

/** The reason that skipped browser tests give. */
export const NO_BROWSER = 'no browser is installed: apt-get install chromium, or name one in CHROMIUM';

/**
 * Loads playwright outside of Jest's context, where it stays for all test files of a worker. Jest would compile its seven
 * megabytes again for each file.
 */
function loadPlaywright(): typeof Playwright {
  const worker: NodeJS.Process = runInThisContext('process');
  const { createRequire } = worker.getBuiltinModule('node:module');
  const playwright: typeof Playwright = createRequire(import.meta.url)('playwright-core');
  return playwright;
}

/**
 * @param path the program of the browser. By default, one as people use it.
 * @param more command-line arguments of Chromium
 */
export function startBrowser(path = BROWSER, ...more: readonly string[]): Promise<Playwright.Browser> {
  if (path === undefined) throw new Error(NO_BROWSER);
  const args = [
    ...more,
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-sync',
  ];
  return loadPlaywright().chromium.launch({
    executablePath: path,
    // Keeps a left page in the back/forward cache, as common browsers do.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    args: [...args, '--disable-background-networking', '--disable-component-update'],
  });
}

export interface PageServer {
  origin: string;
  close: () => Promise<void>;
}

/** The page starts one execution. The start resolves with the first report of the task. */
const PAGE = `<!doctype html><title>A page</title><script type="module">
  import { A2aClient, McpClient } from '/client.js';
  window.begin = ({ over, url, token, onUnload }) => new Promise((resolve, reject) => {
    const client = over === 'mcp' ? new McpClient({ url, token }) : new A2aClient({ url, token });
    const onProgress = ({ report }) => report && resolve(report);
    const request = { text: 'run \`sleep 600\`', autoExecute: true };
    window.execution = client.start(request, { onUnload, onProgress });
    window.execution.result.catch(reject);
  });
</script>`;

/** Serves the built library at `/client.js`, and the page at every other address. */
export async function servePages(): Promise<PageServer> {
  const library = await readFile(join(process.cwd(), 'dist', 'client', 'index.js'));
  const server = createServer((request, response) => {
    const isLibrary = request.url === '/client.js';
    response.setHeader('Content-Type', isLibrary ? 'text/javascript' : 'text/html');
    response.end(isLibrary ? library : PAGE);
  });
  const { host, close } = await listenOnLoopback(server);
  return { origin: `http://${host}`, close };
}
