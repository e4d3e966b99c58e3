/** Tests in a browser what the page shows of an action that this person may not approve. */
import { expect, test } from '@jest/globals';
import { plan, write } from '../../support/offline-plan.ts';
import { stageWithRules } from '../../support/presence-stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';

describeInBrowser('an action that another person must approve, on the page', (browser) => {
  test('R121 the page says who must approve in place of the button, and takes a denial', async () => {
    const on = await stageWithRules({ action: 'ask', path: 'secret.txt', approver: { group: 'release' } });
    const { taskId } = await on.peer.send(
      plan({ together: [write('secret.txt', 'b'), write('open.txt', 'a')] }, { say: 'Done.' }),
    );
    const page = await browser.watchedPage();
    await signIn(page, on.server, { taskId });
    const secret = page.locator('section.action').filter({ hasText: 'Write secret.txt' });
    await secret.getByText('Needs the approval of somebody else, in group release.').waitFor();
    const names = await secret.getByRole('button').allTextContents();
    expect(names).toContain('Deny');
    expect(names).not.toContain('Approve');
    expect(names).not.toContain('Edit');
    // "Approve all" would approve this action too.
    expect(await page.getByRole('button', { name: /approve all/i }).count()).toBe(0);
    await page.locator('section.action[data-seen="true"]').first().waitFor();
    await secret.getByRole('button', { name: 'Deny' }).click();
    await secret.getByText('You denied this.').waitFor();
  });
});
