/**
 * Tests what a hostile site can do in the browser of a person who is signed in to the page. The site is on the same
 * host, at another port. So `SameSite` does not protect the cookie: the browser sends it with each request.
 */
import { beforeEach, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { plan, shell } from '../../support/offline-plan.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { openPages, type Site } from '../../support/web-site.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { makeLink, signIn } from './support/sign-in.ts';

describeInBrowser(
  'X1 a hostile site in the browser of a person who is signed in',
  (browser) => {
    let context: BrowserContext;
    let on: SharedStage;
    let taskId: string;
    let site: Site;
    /** The approval page, signed in. */
    let own: Page;
    let hostile: Page;

    beforeEach(async () => {
      on = await sharedStage();
      ({ taskId } = await on.peer.send(plan(shell('touch effect'))));
      site = await openPages({ '/': '<!doctype html><title>Prizes</title>' });
      context = await browser.newContext();
      own = await context.newPage();
      await signIn(own, on.server, { taskId });
      hostile = await context.newPage();
      await hostile.goto(site.origin);
    });

    /** Nothing was decided, and the person is still signed in. */
    async function nothingHappened(): Promise<void> {
      expect((await on.peer.task(taskId)).state).toBe('INPUT_REQUIRED');
      expect(await on.file('effect')).toBeUndefined();
      await own.reload();
      await own.getByRole('button', { name: 'Approve' }).waitFor();
    }

    test('its requests with the cookie change nothing, and it cannot read their answers', async () => {
      const [action] = (await on.peer.task(taskId)).pending;
      const decision = { callId: action?.callId, shown: action?.shown, decision: 'approve' };
      const message = {
        messageId: 'hostile',
        role: 'ROLE_USER',
        taskId,
        parts: [{ data: { extension: 'urn:mcp-a2a-bridge:tool-approval:v1', decisions: [decision] } }],
      };
      const results = await hostile.evaluate(
        async ({ url, id, body }) => {
          const outcome = async (path: string, init: RequestInit): Promise<string> => {
            try {
              const response = await fetch(`${url}${path}`, { credentials: 'include', ...init });
              return `${response.type} ${(await response.text()).length}`;
            } catch (error) {
              return String(error);
            }
          };
          const type = { 'content-type': 'application/json' };
          return Promise.all([
            outcome('/page/api/message:send', { method: 'POST', mode: 'no-cors', body }),
            outcome(`/page/api/tasks/${id}:cancel`, { method: 'POST', mode: 'no-cors', body: '{}' }),
            outcome('/page/sign-out', { method: 'POST', mode: 'no-cors', body: '{"everywhere":true}' }),
            outcome('/page/api/message:send', { method: 'POST', body, headers: type }),
            outcome('/page/api/message:send', {
              method: 'POST',
              body,
              headers: { ...type, 'x-page-key': 'x' },
            }),
            outcome('/page/api/tasks', {}),
            outcome('/page/api/task-groups', { mode: 'no-cors' }),
          ]);
        },
        { url: on.server.url, id: taskId, body: JSON.stringify({ message }) },
      );
      // An opaque answer has no text. The browser refuses the other answers.
      for (const result of results) expect(result).toMatch(/^(opaque 0|TypeError: Failed to fetch)$/);
      await nothingHappened();
    });

    test('its forms change nothing', async () => {
      for (const path of [
        '/page/sign-out',
        '/page/session',
        '/page/api/message:send',
        `/tasks/${taskId}:cancel`,
      ]) {
        await hostile.setContent(`
          <form action="${on.server.url}${path}" method="post" enctype="text/plain">
            <input name='{"everywhere":true,"x":"' value='"}'>
            <button>Win</button>
          </form>`);
        const answered = hostile.waitForResponse((response) => response.url().endsWith(path));
        await hostile.getByRole('button', { name: 'Win' }).click();
        expect((await answered).status()).toBeGreaterThanOrEqual(400);
        await hostile.waitForURL(`**${path}`);
        await hostile.goto(site.origin);
      }
      await nothingHappened();
    });

    test('it cannot show the page in a frame', async () => {
      // The content is set when its frame has loaded.
      await hostile.setContent(`<iframe src="${on.server.url}/page"></iframe>`);
      expect(await hostile.frameLocator('iframe').getByRole('button').count()).toBe(0);
      expect(hostile.frames()[1]?.url()).toBe('chrome-error://chromewebdata/');
      await nothingHappened();
    });

    test('it loses the window that it opens for the page, and cannot read the code of a link', async () => {
      const link = await makeLink(on.server, { taskId });
      const opening = context.waitForEvent('page');
      await hostile.evaluate(`globalThis.opened = window.open(${JSON.stringify(link)}); undefined`);
      const opened = await opening;
      await opened.getByRole('button', { name: 'Approve' }).waitFor();
      expect(await opened.evaluate('window.opener')).toBeNull();
      const seen = await hostile.evaluate(`
        try { 'closed ' + opened.closed + ', ' + opened.location.href } catch (error) { error.name }`);
      expect(seen).toMatch(/^(SecurityError|closed true, .*)$/);
      expect(seen).not.toContain('code=');
      await nothingHappened();
    });

    test('the code of a link is not in the address of the page after the sign-in, nor in an earlier one', async () => {
      expect(own.url()).not.toMatch(/code=[\w-]/);
      expect(await own.evaluate('document.referrer')).toBe('');
      await own.goBack();
      expect(own.url()).toBe('about:blank');
    });

    test('DNS rebinding: the server refuses the page and the card for a name of another site', async () => {
      const { port } = new URL(on.server.url);
      const statusOf = async (path: string): Promise<number | undefined> =>
        (await hostile.goto(`http://rebound.test:${port}${path}`))?.status();
      for (const path of ['/page', '/page.js', '/.well-known/agent-card.json', '/page/api/tasks'])
        expect(await statusOf(path)).toBe(403);
      expect(await statusOf('/livez')).toBe(200);
    });
  },
  '--host-resolver-rules=MAP rebound.test 127.0.0.1',
);
