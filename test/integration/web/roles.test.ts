/** Tests in a browser what the page shows a person whose token may only delegate. */
import { expect, test } from '@jest/globals';
import { delegatorStage, NEEDS_ROLE } from '../../support/delegator-stage.ts';
import { decisionOn } from '../../support/a2a-message.ts';
import { askPerson, plan, write } from '../../support/offline-plan.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';

describeInBrowser('the page of a person who may not decide', (browser) => {
  test.each([
    ['an action', plan(write('a.txt', 'x'), { say: 'Done.' })],
    ['a question', plan(askPerson('Which?', ['red', 'blue']), { say: 'Done.' })],
  ])(
    'R122 the page offers no decision on %s, says which role must decide, and does not say that it waits for this person',
    async (what, task) => {
      const { on, delegator, approver } = await delegatorStage();
      const { taskId, pending } = await delegator.peer.send(task);
      const page = await browser.watchedPage();
      await signIn(page, { url: on.server.url, token: delegator.token }, { taskId });
      const action = page.locator('section.action');
      await action.getByText(NEEDS_ROLE).waitFor();
      expect(await action.getByRole('button', { name: /approve|deny|edit|answer|decline/i }).count()).toBe(0);
      expect(await action.getByRole('textbox').count()).toBe(0);
      const list = page.getByRole('region', { name: 'Waits for somebody else' });
      await list.getByText(NEEDS_ROLE).waitFor();
      await page.locator('.task-head').getByText('waits for somebody else').waitFor();
      expect(await page.getByText('Waits for you', { exact: false }).count()).toBe(0);
      expect(await page.title()).not.toContain('1');
      if (what === 'a question') return;
      const stream = await approver.peer.decide(taskId, [decisionOn(pending, 'approve')]);
      await stream.rest();
      await page.locator('.task-head').getByText('completed').waitFor();
    },
  );
});
