/**
 * Writes pictures of what MCP clients show while an action waits: docs/pictures/<client>.webp. It runs the real clients in
 * tmux, with a model of its own. `npm run pictures:clients [-- <client> …]` gets the clients, and takes the pictures of these or of all.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { startBrowser } from '../integration/client/support/browser.ts';
import { startFakeModelEndpoint } from '../support/fake-model-endpoint.ts';
import { CLIENTS, type PicturedClient } from './pictured-clients.ts';
import { delegatingModel, PROMPT } from './delegating-model.ts';
import { terminalPage } from './terminal-html.ts';
import { TmuxScreen } from './tmux-screen.ts';

const DIRECTORY = join('docs', 'pictures');
const QUALITY = 65;
const only = process.argv.slice(2);

/** @returns the screen, with its colours */
async function screenOf(client: PicturedClient): Promise<string> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'home-')));
  const project = join(home, 'project');
  const env = { HOME: home, ...client.env };
  // A result names the program, and the picture must not show this clone.
  const clone = join(home, 'mcp-a2a-bridge');
  await cp('dist', join(clone, 'dist'), { recursive: true });
  for (const name of ['node_modules', 'package.json']) await symlink(resolve(name), join(clone, name));
  const bridge = (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(clone, 'dist', 'bridge', 'main.js'), ...args], {
      cwd: project,
      env: { PATH: process.env['PATH'], ...env },
    });
  await mkdir(project, { recursive: true });
  await writeFile(join(project, 'a.txt'), 'alpha\nbeta\ngamma\n');
  const model = await startFakeModelEndpoint();
  model.otherwise(delegatingModel());
  const place = { home, project, modelUrl: model.url };
  await bridge('install', client.installName, '--yes');
  await client.prepare(place);
  const screen = new TmuxScreen({
    command: client.command,
    directory: project,
    env: { ...env, ...client.modelEnv(model.url) },
    columns: 100,
    rows: 50,
  });
  try {
    await screen.start();
    return await client.untilWaiting(screen);
  } finally {
    await screen.close();
    await bridge('server', 'stop');
    await model.close();
    await rm(home, { recursive: true, force: true });
  }
}

function plain(line = ''): string {
  return stripVTControlCharacters(line).trim();
}

/** Begins with the prompt, and leaves out repeated empty lines. */
function excerpt(screen: string): string {
  const lines = screen.trimEnd().split('\n');
  return lines
    .slice(
      Math.max(
        0,
        lines.findIndex((line) => plain(line).includes(PROMPT)),
      ),
    )
    .filter((line, at, all) => plain(line) !== '' || plain(all[at - 1]) !== '')
    .join('\n');
}

await mkdir(DIRECTORY, { recursive: true });
const browser = await startBrowser();
try {
  for (const client of CLIENTS.filter(({ name }) => only.length === 0 || only.includes(name))) {
    const screen = await screenOf(client);
    const page = await (await browser.newContext({ deviceScaleFactor: 1 })).newPage();
    await page.setContent(terminalPage(excerpt(screen)));
    const box = await page.locator('pre').boundingBox();
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send('Page.captureScreenshot', {
      format: 'webp',
      quality: QUALITY,
      captureBeyondViewport: true,
      clip: { x: 0, y: 0, width: box?.width ?? 0, height: box?.height ?? 0, scale: 1 },
    });
    const bytes = Buffer.from(data, 'base64');
    await writeFile(join(DIRECTORY, `${client.name}.webp`), bytes);
    process.stdout.write(`${client.name}.webp ${Math.ceil(bytes.length / 1024)} kB\n`);
    await page.close();
  }
} finally {
  await browser.close();
}
