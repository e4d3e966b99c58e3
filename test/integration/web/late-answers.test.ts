/** Tests in a browser that the page shows no wrong picture if an answer arrives late, or not at all. */
import { beforeEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { plan, write } from '../../support/offline-plan.ts';
import { stage } from '../../support/stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';

describeInBrowser('an answer that arrives late', (browser) => {
  let page: Page;
  beforeEach(async () => {
    page = await (await browser.newContext()).newPage();
  });

  test('after a short outage, the page of a waiting task no longer says that it has no connection', async () => {
    const own = await stage();
    const { taskId } = await own.peer.send(plan(write('a.md', 'x'), { say: 'Written.' }));
    await signIn(page, own.server, { taskId });
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    const { port } = new URL(own.server.url);
    await own.server.stop();
    await page.getByRole('status').getByText('No connection since').waitFor();
    const next = await stage({ home: own.server, args: ['--port', port] });
    // The client has not given up yet. The task waits, so its new stream has no event.
    await page.getByRole('status').waitFor({ state: 'detached' });
    expect((await next.peer.task(taskId)).state).toBe('INPUT_REQUIRED');
  });
});
