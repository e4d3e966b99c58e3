/** Tests in a browser how a person puts files back, with real files. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { append, plan, shell, write, type PlannedStep } from '../../support/offline-plan.ts';
import { signal } from '../../support/signal.ts';
import { sharedStage, type PrincipalStage } from '../../support/shared-stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';

describeInBrowser('"Put back" on the page', (browser) => {
  let page: Page;
  let on: PrincipalStage;
  beforeEach(async () => {
    on = await sharedStage();
    page = await browser.watchedPage();
  });

  /** Runs a task to its end without questions. */
  async function did(...steps: PlannedStep[]): Promise<{ taskId: string; sessionId: string }> {
    const { taskId, sessionId, state } = await on.peer.send(plan(...steps), {
      settings: { autoExecute: true },
    });
    expect(state).toBe('COMPLETED');
    return { taskId, sessionId };
  }
  const personWrites = (name: string, content: string | Uint8Array): Promise<void> =>
    writeFile(join(on.server.workspace, name), content);
  const bytes = (name: string): Promise<Buffer> => readFile(join(on.server.workspace, name));
  const checkpoints = (): Locator => page.getByRole('region', { name: 'Checkpoints' });
  const button = (name: string): Locator => checkpoints().getByRole('button', { name });
  const state = (word: string): Promise<void> => page.locator(`article .state-${word}`).waitFor();
  /** Resolves when the page shows another task. */
  const nextTask = async (act: () => Promise<void>): Promise<void> => {
    const before = page.url();
    await act();
    await page.waitForURL((url) => url.href !== before);
  };

  test('a person sees what it changes and confirms; the files have their old bytes, and this can be undone too', async () => {
    const old = Buffer.from('one\r\ntwo \u{1F600}\n\n');
    await personWrites('kept.txt', old);
    await personWrites('raw', Buffer.from([0, 255, 1]));
    const { taskId, sessionId } = await did({
      together: [
        write('kept.txt', 'changed\n'),
        write('new.txt', 'a\nb\n'),
        { tool: 'delete-file', input: { path: 'raw' } },
      ],
    });
    await signIn(page, on.server, { taskId });
    await button('Put back …').click();
    const files = checkpoints().getByRole('list', { name: 'Files to put back' });
    await files.waitFor();
    expect(await files.getByRole('listitem').allTextContents()).toEqual([
      'changed kept.txt +3 −1',
      'deleted new.txt +0 −2',
      'created raw ',
    ]);
    await checkpoints().getByLabel('Change by putting back').getByText('+two').waitFor();
    await checkpoints().getByLabel('Change by putting back').getByText('# raw: no file → 3 bytes').waitFor();
    expect((await bytes('kept.txt')).toString()).toBe('changed\n');

    await nextTask(() => button('Yes, put these files back').click());
    await state('completed');
    expect(await bytes('kept.txt')).toEqual(old);
    expect(await bytes('raw')).toEqual(Buffer.from([0, 255, 1]));
    expect(await on.file('new.txt')).toBeUndefined();
    const [restoration] = await on.peer.list({ contextId: sessionId });
    expect(page.url()).toContain(`task=${restoration?.taskId}`);
    const call = page.getByRole('region', { name: 'Story' }).locator('.step-call');
    await call.locator('summary').click();
    await call.getByText(`Approved by ${on.principal} on an approval page`).waitFor();

    await button('Put back …').click();
    await nextTask(() => button('Yes, put these files back').click());
    await state('completed');
    expect((await bytes('kept.txt')).toString()).toBe('changed\n');
    expect(await on.file('new.txt')).toBe('a\nb\n');
  });

  test('a restoration that starts late does not replace the task that the person has opened meanwhile', async () => {
    await personWrites('a.txt', 'old');
    const { taskId } = await did(write('a.txt', 'new'));
    const other = await did({ say: 'Said.' });
    await signIn(page, on.server, { taskId });
    await button('Put back …').click();
    const request = signal();
    await page.route('**/message:stream', async (route) => {
      await request.happened;
      await route.continue();
    });
    await button('Yes, put these files back').click();
    const rows = page.getByRole('navigation').locator('a.task');
    await rows.and(page.locator(`[href="#task=${other.taskId}"]`)).click();
    await page.getByLabel('Text of the agent').getByText('Said.').waitFor();
    request.happen();
    // The list then has the task of the restoration too.
    await page.locator('.ended a.task').nth(2).waitFor();
    expect(await on.file('a.txt')).toBe('old');
    expect(page.url()).toContain(other.taskId);
  });

  test('a file that a later turn changed is not overwritten, and the person can undo that turn too', async () => {
    await personWrites('a.txt', '0');
    const { taskId } = await did(append('a.txt', '1'));
    await did(append('a.txt', '2'));
    await signIn(page, on.server, { taskId });
    await button('Put back …').click();
    await checkpoints().getByText('These files have changed since').waitFor();
    expect(await button('Yes, put these files back').count()).toBe(0);
    await checkpoints().getByLabel('Also undo all later turns').check();
    await checkpoints().getByText('changed a.txt +1 −1').waitFor();
    expect(await on.file('a.txt')).toBe('012');
    await nextTask(() => button('Yes, put these files back').click());
    await state('completed');
    expect(await on.file('a.txt')).toBe('0');
  });

  test('a file that a person changed is not overwritten, not even between the preview and the confirmation', async () => {
    await personWrites('a.txt', 'old');
    const { taskId } = await did(write('a.txt', 'new'));
    await signIn(page, on.server, { taskId });
    await button('Put back …').click();
    await button('Yes, put these files back').waitFor();
    await personWrites('a.txt', 'mine');
    await nextTask(() => button('Yes, put these files back').click());
    await state('failed');
    await page.locator('.message').getByText('1 of 1 files have changed since: a.txt').waitFor();
    expect(await on.file('a.txt')).toBe('mine');

    await page.goBack();
    await button('Put back …').click();
    await checkpoints().getByText('These files have changed since').waitFor();
    await checkpoints().getByLabel('Also undo all later turns').check();
    await checkpoints().getByText('A person or a command changed them.').waitFor();
    expect(await button('Yes, put these files back').count()).toBe(0);
    await button('Keep the files').click();
    await button('Put back …').waitFor();
    expect(await on.file('a.txt')).toBe('mine');
  });

  test('D2 if the server asks about another change than the confirmed one, the question waits for the person', async () => {
    await personWrites('a.txt', '0');
    const { taskId } = await did({ together: [append('a.txt', '1'), append('a.txt', '2')] });
    await signIn(page, on.server, { taskId });
    await button('Put back …').click();
    await button('Yes, put these files back').waitFor();
    // The file had this content between the two writes of the turn.
    await personWrites('a.txt', '01');
    await nextTask(() => button('Yes, put these files back').click());
    await page.getByLabel('Preview').getByText('-01').waitFor();
    expect(await on.file('a.txt')).toBe('01');
    await page.getByRole('button', { name: 'Approve' }).click();
    await state('completed');
    expect(await on.file('a.txt')).toBe('0');
  });

  test('while a task of the session has not ended, the page says why it cannot put files back', async () => {
    const { taskId, sessionId } = await did(write('a.txt', 'new'));
    const live = await on.peer.send(plan(write('b.txt', 'x'), shell('echo 1')), { sessionId });
    await signIn(page, on.server, { taskId });
    await checkpoints().getByText('after the end of the session’s current task').waitFor();
    expect(await button('Put back …').isDisabled()).toBe(true);
    await checkpoints().getByRole('link').click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByLabel('Preview').getByText('echo 1').waitFor();
    await checkpoints().getByText('after the end of this task').waitFor();
    expect(await button('Put back …').isDisabled()).toBe(true);
    expect(new URL(page.url()).hash).toContain(live.taskId);
  });

  test('the page cannot put files back after another task of the session has started, and says so', async () => {
    const { taskId, sessionId } = await did(write('a.txt', 'new'));
    await signIn(page, on.server, { taskId });
    await button('Put back …').click();
    await button('Yes, put these files back').waitFor();
    await on.peer.send(plan(write('b.txt', 'x')), { sessionId });
    await button('Yes, put these files back').click();
    await checkpoints().getByRole('alert').getByText('a command needs its own task').waitFor();
    expect(await on.file('a.txt')).toBe('new');
    // The browser logs the refused request.
    expect(browser.problems.splice(0)).toHaveLength(1);
  });
});
