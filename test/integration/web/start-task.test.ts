/** Tests in a browser which agents and models "Start a task" offers. */
import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { agentProgram } from '../../support/acp-agent/agent-program.ts';
import { FAKE_MODEL, modelEndpoint } from '../../support/model-stage.ts';
import { plan } from '../../support/offline-plan.ts';
import type { ServerOptions } from '../../support/server-process.ts';
import { stage, type Stage } from '../../support/stage.ts';
import { describeInBrowser } from './support/in-browser.ts';
import { signIn } from './support/sign-in.ts';

const choiceIn = (form: Locator): Locator => form.getByRole('combobox', { name: /^Agent/ });

describeInBrowser('"Start a task" on the page', (browser) => {
  let page: Page;
  let on: Stage;

  async function opened(options: ServerOptions): Promise<Locator> {
    on = await stage(options);
    page = await browser.watchedPage();
    await signIn(page, on.server);
    await page.getByText('Start a task').click();
    return page.locator('details.start');
  }
  const start = async (text: string): Promise<void> => {
    await page.getByLabel('The task for the agent').fill(text);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.locator('article .state-completed').waitFor();
    expect(await page.getByLabel('The task for the agent').inputValue()).toBe('');
  };
  const models = async (): Promise<unknown[]> =>
    (await on.peer.list()).map(({ overview }) => overview.settings.model);

  test('a person chooses a tier of the server, and the task runs with its model', async () => {
    const endpoint = await modelEndpoint();
    endpoint.script({ type: 'turn', turn: { text: ['From the smart model.'] } });
    const form = await opened({
      args: ['--smart-model', FAKE_MODEL],
      env: { MCP_A2A_OPENAI_COMPATIBLE_URL: `${endpoint.url}/v1` },
    });
    const choice = choiceIn(form);
    await choice.waitFor();
    expect(await choice.locator('option').allTextContents()).toEqual([
      'offline (default)',
      `smart (${FAKE_MODEL})`,
    ]);
    await choice.selectOption('smart');
    await start('Say something.');
    await page.getByLabel('Text of the agent').getByText('From the smart model.').waitFor();
    await page.getByRole('region', { name: 'About this task' }).getByText(FAKE_MODEL).waitFor();
    expect(await models()).toEqual(['smart']);
  });

  test('a server with one model names it, offers no choice, and the task gets no model', async () => {
    const form = await opened({});
    await form.getByText('offline', { exact: true }).waitFor();
    expect(await choiceIn(form).count()).toBe(0);
    await start(plan({ say: 'Said.' }));
    expect(await models()).toEqual([undefined]);
  });

  test('a server with an ACP agent names the agent, and offers no model', async () => {
    const { command, args } = await agentProgram();
    const form = await opened({ args: ['--agent', 'acp', '--', command, ...args] });
    await form.getByText('the ACP agent', { exact: false }).waitFor();
    expect(await choiceIn(form).count()).toBe(0);
  });
});
