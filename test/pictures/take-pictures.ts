/**
 * Writes pictures of the page's main views and of the approval card to docs/pictures, as docs/page.md shows them. Each
 * view has four pictures: narrow and wide, light and dark. `npm run pictures [-- <directory>]` writes them elsewhere.
 */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { z } from 'zod';
import { APPROVAL_CARD_MIME_TYPE, APPROVAL_CARD_URI } from '../../bridge/approvals/approval-card.ts';
import { startBrowser } from '../integration/client/support/browser.ts';
import { startCardHost } from '../integration/web/support/card-host.ts';
import { makeLink, signIn } from '../integration/web/support/sign-in.ts';
import { DIFF_TASK, startScene, type Scene } from './scene.ts';

const [DIRECTORY = join('docs', 'pictures')] = process.argv.slice(2);
const WIDTHS = [
  { name: '360', viewport: { width: 360, height: 740 } },
  { name: '1440', viewport: { width: 1440, height: 900 } },
] as const;
const SCHEMES = ['light', 'dark'] as const;
/** WebP makes a picture of text half as large as PNG does. */
const QUALITY = 75;

async function save(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const shot = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  const bytes = Buffer.from(shot.data, 'base64');
  await writeFile(join(DIRECTORY, `${name}.webp`), bytes);
  process.stdout.write(`${name}.webp ${Math.ceil(bytes.length / 1024)} kB\n`);
  await session.detach();
}

/** The page pales its buttons for half a second after a change. */
async function settled(page: Page): Promise<void> {
  await page.locator('#page:not([data-changing])').waitFor();
}

/** Takes the four pictures of what the page shows. */
async function saveEach(page: Page, name: string, prepare: () => Promise<void>): Promise<void> {
  for (const { name: width, viewport } of WIDTHS)
    for (const colorScheme of SCHEMES) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await prepare();
      await save(page, `${name}-${width}-${colorScheme}`);
    }
}

async function takePage(browser: Browser, scene: Scene): Promise<void> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(await makeLink(scene));
  const button = page.getByRole('button', { name: 'Sign in' });
  await saveEach(page, 'sign-in', async () => {
    await button.waitFor();
    await settled(page);
  });
  await signIn(page, scene);
  const { diff, question, story } = scene.tasks;
  const open = (fragment: string, wanted: string) => async (): Promise<void> => {
    await page.goto(`${scene.url}/page#${fragment}`);
    await page.reload();
    await page.locator(wanted).first().waitFor();
    await page.locator('.group.ended .task').first().waitFor({ state: 'attached' });
    await settled(page);
  };
  await saveEach(page, 'home', open('state=', '.group.waiting .task'));
  await saveEach(page, 'diff', open(`task=${diff}`, 'section.action .diff'));
  await saveEach(page, 'question', open(`task=${question}`, 'section.action'));
  await saveEach(page, 'story', async () => {
    await open(`task=${story}`, '.story .step-ended')();
    await page.locator('.step-call summary').nth(2).click();
    await settled(page);
    await page.evaluate(
      "document.querySelector('.todos').scrollIntoView({ block: 'start' }); scrollBy(0, -16)",
    );
    await settled(page);
  });
}

const resource = z.object({ contents: z.array(z.object({ text: z.string() })).min(1) });

/** The bridge gives the card to an MCP client that can show it. The page of a host shows the card. */
async function takeCard(browser: Browser, { stateDir, workspace }: Scene): Promise<void> {
  const mcpApps = { 'io.modelcontextprotocol/ui': { mimeTypes: [APPROVAL_CARD_MIME_TYPE] } };
  const client = new Client({ name: 'pictures', version: '0' }, { capabilities: { extensions: mcpApps } });
  const bridge = join(process.cwd(), 'dist', 'bridge', 'main.js');
  const args = [bridge, '--state-dir', stateDir, '--allow-workspace', workspace, '--no-auto-start'];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: { HOME: stateDir }, stderr: 'ignore' }),
  );
  const page = await (await browser.newContext()).newPage();
  const call = (name: string, given: object) => client.callTool({ name, arguments: { ...given } });
  try {
    const waiting = await call('delegate_task_to_assistant', { task: DIFF_TASK, workspace });
    const { contents } = resource.parse(await client.readResource({ uri: APPROVAL_CARD_URI }));
    const host = await startCardHost(contents[0]?.text ?? '');
    await page.exposeFunction('callBridge', call);
    for (const { name: width, viewport } of WIDTHS)
      for (const theme of SCHEMES) {
        // A chat is narrower than its window.
        await page.setViewportSize({ ...viewport, width: Math.min(viewport.width, 720) });
        await page.emulateMedia({ colorScheme: theme });
        await page.goto(host.address);
        await page.evaluate(`showCard(${JSON.stringify({ address: host.card, result: waiting, theme })})`);
        await page.frameLocator('iframe').getByRole('button', { name: 'Approve' }).waitFor();
        await page.frameLocator('iframe').locator('#page:not([data-changing])').waitFor();
        await save(page, `card-${width === '360' ? '360' : '720'}-${theme}`);
      }
    await host.close();
  } finally {
    await client.close();
  }
}

await mkdir(DIRECTORY, { recursive: true });
const scene = await startScene();
const browser = await startBrowser();
try {
  await takePage(browser, scene);
  await takeCard(browser, scene);
} finally {
  await browser.close();
  await scene.close();
}
