/** Runs the examples of the client library as a person does. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { stage, type Stage } from '../../support/stage.ts';
import { startHttp } from '../bridge/support/bridge-stage.ts';
import type { HttpBridge } from '../bridge/support/http-bridge.ts';
import { BROWSER, startBrowser } from './support/browser.ts';
import { plan, wait, write } from '../../support/offline-plan.ts';

const children: ChildProcessWithoutNullStreams[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

interface Surroundings extends Partial<Stage> {
  bridge?: HttpBridge;
}

function run(example: string, args: readonly string[], { server, bridge }: Surroundings = {}) {
  const child = spawn(process.execPath, [join(process.cwd(), 'examples', example), ...args], {
    cwd: server?.workspace ?? process.cwd(),
    env: {
      PATH: process.env['PATH'],
      A2A_URL: server?.url,
      A2A_TOKEN: server?.token,
      MCP_URL: bridge?.url,
      MCP_TOKEN: bridge?.token,
    },
  });
  children.push(child);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  // An exit alone does not show that all output has arrived.
  const exited = once(child, 'close').then(([code]: unknown[]) => code);
  return {
    child,
    output: () => output,
    said: async (pattern: RegExp) => {
      while (!pattern.test(output))
        await Promise.race([once(child.stdout, 'data'), exited.then(() => ended(output))]);
    },
    exited,
  };
}

function ended(output: string): never {
  throw new Error(`the example ended:\n${output}`);
}

describe('the example examples/client-node.mjs', () => {
  test('the example shows each proposed action, and runs it if a person types y', async () => {
    const staged = await stage();
    const move = { tool: 'move-file', input: { path: 'b.md', to: 'a.md' } };
    const text = plan(write('b.md', 'hello'), move);
    const { child, said, exited, output } = run('client-node.mjs', [text], staged);
    await said(/\+hello[^]*approve\? \[y\/n\] $/);
    child.stdin.write('y\n');
    await said(/"moves": "b.md"[^]*approve\? \[y\/n\] $/);
    child.stdin.write('y\n');
    expect([await exited, output()]).toEqual([
      0,
      expect.stringMatching(/write-file-\S+ runs[^]*\[completed/),
    ]);
    expect(await staged.file('a.md')).toBe('hello');
  });

  test('the example ends the task on Ctrl-C', async () => {
    const staged = await stage();
    const { child, said, exited } = run('client-node.mjs', ['run', '`sleep 600`'], staged);
    await said(/approve\?/);
    child.stdin.write('y\n');
    await said(/run-shell-command-\S+ runs/);
    child.kill('SIGINT');
    expect(await exited).toBe(1);
    const [task] = await staged.peer.list();
    expect(task).toMatchObject({ state: 'CANCELED', statusText: expect.stringContaining('Ctrl-C') });
  });
});

async function bridged() {
  const staged = await stage();
  return { ...staged, bridge: await startHttp(staged.server) };
}

describe('the example examples/abort-tool.mjs', () => {
  test('the example stops the running tool on Enter, and its task continues to its end', async () => {
    const staged = await bridged();
    const text = plan(wait(600), { tool: 'list-files', input: {} });
    const { child, said, exited, output } = run('abort-tool.mjs', [text], staged);
    await said(/\[working/);
    const [task] = await staged.peer.list();
    const stream = await staged.peer.follow(task?.taskId ?? '', 0);
    await stream.until(({ activity }) => activity?.type === 'tool.started');
    stream.connection.destroy();
    child.stdin.write('\n');
    expect(await exited).toBe(0);
    expect(output()).toMatch(
      /stopped: Successfully aborted tool execution: wait-\S+\][^]*list-files[^]*\[completed\]/,
    );
  });

  test('the example ends a task that waits for a person, and does not ask the person', async () => {
    const { exited, output } = run('abort-tool.mjs', ['create a.md with x'], await bridged());
    expect([await exited, output()]).toEqual([
      1,
      expect.stringMatching(/waits for a person[^]*\[canceled\]/),
    ]);
  });
});

(BROWSER === undefined ? describe.skip : describe)('examples/client-page.html', () => {
  test('the example page starts a task, shows the diff, and approves it with a click', async () => {
    const pages = run('serve-page.mjs', ['0']);
    await pages.said(/^http:\S+\/$/m);
    const address = pages.output().trim();
    const staged = await stage({ args: ['--allow-origin', new URL(address).origin] });
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(address);
      await page.fill('[name=url]', staged.server.url);
      await page.fill('[name=token]', staged.server.token);
      await page.click('text=Start');
      await page.waitForSelector('text=+hello');
      await page.click('text=Approve');
      await page.waitForSelector('strong:has-text("completed")');
      expect(await staged.file('test.md')).toBe('hello');
    } finally {
      await browser.close();
    }
  });

  test('the example page shows the agent’s question to a person, and the task continues with the answer', async () => {
    const pages = run('serve-page.mjs', ['0']);
    await pages.said(/^http:\S+\/$/m);
    const address = pages.output().trim();
    const staged = await stage({
      args: ['--allow-origin', new URL(address).origin, '--budget-tool-calls', '1'],
    });
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      page.on('dialog', (dialog) => void dialog.accept('go on'));
      await page.goto(address);
      await page.fill('[name=url]', staged.server.url);
      await page.fill('[name=token]', staged.server.token);
      await page.fill('[name=text]', plan({ tool: 'list-files', input: {} }, { say: 'that was all' }));
      await page.click('text=Start');
      await page.waitForSelector('p:has-text("used its budget")');
      await page.click('text=Answer');
      await page.waitForSelector('strong:has-text("completed")');
      await page.waitForSelector('pre:has-text("that was all")');
    } finally {
      await browser.close();
    }
  });
});
