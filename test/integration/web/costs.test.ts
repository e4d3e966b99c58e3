/** The costs on the approval page, in a browser, with a provider that reports its tokens. */
import { expect, test } from '@jest/globals';
import { pricedAnswer, PRICED_MODEL, pricedServer } from '../../support/priced-model.ts';
import { stage } from '../../support/stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';

describeInBrowser('the costs on the approval page', (browser) => {
  test('the page shows the cost of a task, of its session and of the day, and the day’s limit', async () => {
    const { options, script } = await pricedServer({ budgetCostPerDay: 5 });
    const on = await stage(options);
    script(pricedAnswer('One.', { cacheReadTokens: 2_000 }), pricedAnswer('Two.'));
    const { sessionId } = await on.peer.send('first task');
    await on.peer.send('second task', { sessionId });
    const page = await browser.watchedPage();
    await signIn(page, on.server);
    await page.getByText('Today (UTC): $0.9600 of $5.00').waitFor();
    const rows = page.locator('.tasks a');
    await page
      .getByText('Cost: 1000 tokens in, 100 out, $0.4500. All tasks of the session: 4000 tokens in')
      .waitFor();
    expect(await rows.allTextContents()).toEqual([
      expect.stringMatching(/^second task.*\$0\.4500$/),
      expect.stringMatching(/^first task.*\$0\.5100$/),
    ]);
    await page.getByText('One session, 2 tasks, $0.9600').waitFor();
    await page.getByText('Cost of each turn').click();
    const table = page.getByRole('table', { name: 'Cost of each turn' });
    await table.waitFor();
    expect(await table.getByRole('row').allInnerTexts()).toEqual([
      'Turn\tTokens in\tCache read\tCache written\tTokens out\tCost\tModel',
      `1\t1000\t0\t0\t100\t$0.4500\t${PRICED_MODEL}`,
    ]);
    await rows.nth(1).click();
    await page.getByText('Cost: 3000 tokens in (2000 read from the cache), 100 out, $0.5100.').waitFor();
  });

  test('after midnight in UTC, an open page shows the cost of the new day', async () => {
    const { options, script } = await pricedServer({ budgetCostPerDay: 5 });
    const on = await stage(options);
    script(pricedAnswer('One.'));
    await on.peer.send('first task');
    const page = await browser.watchedPage();
    await page.clock.install();
    await signIn(page, on.server);
    await page.getByText('Today (UTC): $0.4500 of $5.00').waitFor();
    await page.route('**/api/costs?*', async (route) => {
      const answer = await (await route.fetch()).json();
      const total = { ...answer.total, inputTokens: 0, outputTokens: 0, usd: 0, knownUsd: 0 };
      await route.fulfill({ json: { ...answer, total } });
    });
    await page.clock.fastForward('24:00:00');
    await page.getByText('Today (UTC): $0.0000 of $5.00').waitFor();
  });
});
