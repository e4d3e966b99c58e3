/**
 * Tests an old session that waits behind hundreds of newer ones. Every surface must find it, and every count must be
 * exact.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { A2aClient } from '../../../shared/client/index.ts';
import { BROWSER, startBrowser } from '../../integration/client/support/browser.ts';
import { builtBridge } from '../../integration/bridge/support/bridge-program.ts';
import { RawClient, textOf } from '../../integration/bridge/support/raw-client.ts';
import { signIn } from '../../integration/web/support/sign-in.ts';
import {
  homeDirectoryOf,
  launchServer,
  newServerHome,
  type Launched,
  type ServerHome,
} from '../../support/server-program.ts';
import { A2aPeer } from '../../support/a2a-peer.ts';
import { actionOf } from '../../support/a2a-message.ts';
import type { TaskView } from '../../support/wire-event.ts';
import { cli, type Outcome } from './support/cli.ts';

const NEWER = 600;
const AT_ONCE = 20;

const listed = z.object({
  sessions: z.array(z.object({ sessionId: z.string(), state: z.string(), pending: z.number() })),
  more: z.number(),
});

describe('R101 an old session that waits among 600 newer sessions', () => {
  let server: Pick<Launched, 'kill'> & ServerHome & { url: string; token: string };
  let old: TaskView;
  const run = (...args: string[]): Promise<Outcome> =>
    cli(args, { home: server.workspace, env: { MCP_A2A_BRIDGE_HOME: server.stateDir } });
  const list = async (...args: string[]): Promise<z.infer<typeof listed>> =>
    listed.parse(JSON.parse((await run('tasks', '--json', ...args)).stdout));

  beforeAll(async () => {
    const home = await newServerHome();
    const launched = launchServer({ home });
    server = { ...home, ...(await launched.ready), kill: launched.kill };
    const peer = new A2aPeer(server);
    old = await peer.send('Create test.md with hello');
    for (let sent = 0; sent < NEWER; sent += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => peer.send(`say ${sent + i}`)));
  }, 300_000);
  afterAll(async () => {
    await server.kill();
    await rm(homeDirectoryOf(server), { recursive: true, force: true });
  });

  it('R101 the command line lists the old session first, counts the others, and lists all sessions if requested', async () => {
    const { stdout } = await run('tasks');
    const rows = stdout.trimEnd().split('\n');
    expect(rows[1]).toMatch(/input-required +1 .*Create test\.md with hello$/);
    expect(rows.at(-1)).toBe(`… and ${NEWER + 1 - 50} more (--limit)`);
    const waiting = { sessionId: old.sessionId, state: 'input-required', pending: 1 };
    expect(await list('--state', 'input-required')).toEqual({ sessions: [waiting], more: 0 });
    const { sessions, more } = await list('--limit', '1000');
    expect(sessions).toHaveLength(NEWER + 1);
    expect(more).toBe(0);
    expect(await list('--state', 'completed', '--limit', '10')).toMatchObject({ more: NEWER - 10 });
  });

  it('R101 the shortest prefix in the list, a code and a call id find the old session', async () => {
    const { stdout } = await run('tasks', '--state', 'input-required');
    const [short = ''] = stdout.split('\n')[1]?.split(/\s/) ?? [];
    expect(short.length).toBeLessThan(old.sessionId.length);
    const { callId, shown } = actionOf(old.pending);
    const named = [short, short.replace('session-', ''), old.taskId.slice(0, 14), callId.slice(0, 10), shown];
    for (const name of named) {
      const { code, stdout: screen, stderr } = await run('show', name);
      expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' });
      expect(screen).toContain(`Session ${old.sessionId}`);
    }
    const several = await run('show', 'session-');
    expect(several.code).toBe(3);
    expect(several.stderr).toMatch(/Several sessions begin with "session-"[^]*… and more/);
  });

  it('R101 the MCP tool lists the old session first and counts the others', async () => {
    const program = await builtBridge();
    const { url: agentUrl, token } = server;
    const client = await RawClient.start(program, {
      stateDir: join(program.directory, 'state'),
      agentUrl,
      token,
    });
    try {
      const all = await client.call('list_all_active_sessions', {});
      const { sessions, more } = listed.parse(all.structuredContent);
      expect(sessions[0]?.sessionId).toBe(old.sessionId);
      expect(more).toBe(NEWER + 1 - 50);
      expect(textOf(all)).toContain(`… and ${NEWER + 1 - 50} more.`);
      const waiting = await client.call('list_all_active_sessions', { state: 'input_required' });
      expect(waiting.structuredContent).toMatchObject({
        sessions: [{ sessionId: old.sessionId, pending: 1 }],
        more: 0,
      });
    } finally {
      await client.close();
      await program.remove();
    }
  });

  it('R101 the client library lists the old session first, with the number of all tasks', async () => {
    const { tasks, total } = await new A2aClient(server).tasks();
    expect(tasks[0]).toMatchObject({ taskId: old.taskId, state: 'waiting' });
    expect(tasks).toHaveLength(51);
    expect(total).toBe(NEWER + 1);
    const all = await new A2aClient(server).tasks(1000);
    expect(new Set(all.tasks.map(({ taskId }) => taskId)).size).toBe(NEWER + 1);
    expect(all.tasks).toHaveLength(NEWER + 1);
  });

  (BROWSER === undefined ? it.skip : it)(
    'R101 the page opens the old session, and shows more sessions on request',
    async () => {
      const browser = await startBrowser();
      try {
        const page = await browser.newPage();
        await signIn(page, server);
        await page.getByText('+hello').waitFor();
        await page.waitForFunction("document.title === '(1) Approvals'");
        const more = page.getByRole('button', { name: `Show more (${NEWER + 1 - 51})` });
        await more.waitFor();
        const entries = page.getByRole('navigation', { name: 'Tasks' }).getByRole('listitem');
        expect(await entries.count()).toBe(51);
        await more.click();
        await page.getByRole('button', { name: `Show more (${NEWER + 1 - 101})` }).waitFor();
        expect(await entries.count()).toBe(101);
      } finally {
        await browser.close();
      }
    },
  );
});
