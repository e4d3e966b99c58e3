/** Tests the approval card: the built bridge, the real server, and in a browser a host with the official library. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, FrameLocator, Locator, Page } from 'playwright-core';
import { z } from 'zod';
import { APPROVAL_CARD_MIME_TYPE, APPROVAL_CARD_URI } from '../../../bridge/approvals/approval-card.ts';
import { plan, wait, write } from '../../support/offline-plan.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { signal } from '../../support/signal.ts';
import { DELEGATE, bridgeStart, closeAfterTest, closing, program } from '../bridge/support/bridge-stage.ts';
import { bridgeCommand } from '../bridge/support/bridge-program.ts';
import { PAGE_BROWSER, NO_BROWSER, startBrowser } from '../client/support/browser.ts';
import { startCardHost } from './support/card-host.ts';

const GET_STATE = 'get_approval_card_state';
const DECIDE_ON_CARD = 'decide_on_approval_card';
const HOST = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [APPROVAL_CARD_MIME_TYPE] } } };
const TASK = plan(write('a.txt', 'one\ntwo\n'), { say: 'Written.' });

const toolResult = z.looseObject({
  content: z.array(z.looseObject({ text: z.string() })),
  structuredContent: z.looseObject({ sessionId: z.string() }).optional(),
  isError: z.boolean().optional(),
  _meta: z.looseObject({}).optional(),
});
const META = '_meta';
const metaSchema = z.object({ [META]: z.object({ ui: z.unknown() }) });
const errorSchema = z.object({ 'mcp-a2a-bridge/error': z.object({ reason: z.string() }) });

/** Returns the reason of a refused call. */
function errorOf({ isError, [META]: meta }: z.infer<typeof toolResult>): string | undefined {
  return isError === true ? errorSchema.parse(meta)['mcp-a2a-bridge/error'].reason : undefined;
}

const cardState = z.looseObject({
  state: z.string(),
  pending: z.array(
    z.looseObject({
      action: z.looseObject({ callId: z.string(), shown: z.string() }),
      code: z.string().optional(),
    }),
  ),
  page: z.string().optional(),
});

interface Chat {
  on: SharedStage;
  call: (name: string, args: object) => Promise<z.infer<typeof toolResult>>;
  client: Client;
  /** The result of the delegation, which waits for a decision. */
  waiting: z.infer<typeof toolResult>;
  sessionId: string;
}

/** A chat whose task waits. */
async function chat(
  args: readonly string[] = [],
  capabilities: object = HOST,
  task: string = TASK,
): Promise<Chat> {
  const on = await sharedStage();
  const start = await bridgeStart(on.server, { args });
  const client = closing(new Client({ name: 'test', version: '0' }, { capabilities }));
  await client.connect(new StdioClientTransport({ ...bridgeCommand(program, start), stderr: 'ignore' }));
  const call: Chat['call'] = async (name, given) =>
    toolResult.parse(await client.callTool({ name, arguments: { ...given } }));
  const waiting = await call(DELEGATE, { task, workspace: on.server.workspace });
  return { on, call, client, waiting, sessionId: waiting.structuredContent?.sessionId ?? '' };
}

/** The card as it is shown: the first action with its code. */
async function shownOf({ call, sessionId }: Chat) {
  const { pending, page } = cardState.parse((await call(GET_STATE, { sessionId })).structuredContent);
  const [first] = pending;
  if (first === undefined) throw new Error('nothing is pending');
  const { callId, shown } = first.action;
  return { code: first.code, decision: { callId, shown, decision: 'approve' }, page };
}

/** Denies the pending action in the conversation, not on the card. */
async function denyElsewhere(on: Chat): Promise<void> {
  const { callId, shown } = (await shownOf(on)).decision;
  const { sessionId } = on;
  await on.call('approve_or_deny_pending_action', { sessionId, callId, shown, decision: 'deny' });
}

async function taskIdOf({ on }: Chat): Promise<string> {
  const [task] = await on.peer.list();
  return task?.taskId ?? '';
}

describe('the approval card’s tools', () => {
  test('a host with MCP Apps gets the card’s address at the tools that wait, and two tools that its model does not see', async () => {
    const { client } = await chat();
    const { tools } = await client.listTools();
    const metaOf = (name: string): unknown =>
      metaSchema.parse(tools.find((tool) => tool.name === name))[META].ui;
    for (const name of [DELEGATE, 'wait_for_task', 'approve_or_deny_pending_action'])
      expect(metaOf(name)).toEqual({ resourceUri: APPROVAL_CARD_URI });
    for (const name of [GET_STATE, DECIDE_ON_CARD]) expect(metaOf(name)).toEqual({ visibility: ['app'] });
    const { contents } = await client.readResource({ uri: APPROVAL_CARD_URI });
    expect(contents).toMatchObject([{ uri: APPROVAL_CARD_URI, mimeType: APPROVAL_CARD_MIME_TYPE }]);
  });

  test.each([
    ['a client without MCP Apps', [], {}],
    ['a host with --approvals tool-only', ['--approvals', 'tool-only'], HOST],
  ])('%s gets no card and no tools of it', async (_, args, capabilities) => {
    const { client, call, sessionId } = await chat(args, capabilities);
    const { tools } = await client.listTools();
    expect(JSON.stringify(tools)).not.toMatch(/ui:\/\/|approval_card/);
    const shown = await call(GET_STATE, { sessionId });
    expect(errorOf(shown)).toBe('FORBIDDEN');
  });

  test('the result of the delegation contains no code of the card', async () => {
    const on = await chat();
    const { code } = await shownOf(on);
    expect(code).toMatch(/^[\w-]{22}$/);
    expect(JSON.stringify(on.waiting)).not.toContain(String(code));
    expect(on.waiting.structuredContent?.['notes']).toEqual([expect.stringContaining('approval card')]);
  });

  test('a code permits one decision on its action, and the receipt names the card', async () => {
    const on = await chat();
    const { code, decision } = await shownOf(on);
    const { sessionId } = on;
    const other = { ...decision, shown: 'ffffffff' };
    const wrong = await on.call(DECIDE_ON_CARD, { sessionId, code, decision: other });
    expect(errorOf(wrong)).toBe('INVALID_DECISION');
    const again = await on.call(DECIDE_ON_CARD, { sessionId, code, decision });
    expect(errorOf(again)).toBe('INVALID_DECISION');
    expect(await on.on.file('a.txt')).toBeUndefined();
    const next = await shownOf(on);
    await on.call(DECIDE_ON_CARD, { sessionId, code: next.code, decision });
    const done = await on.call('wait_for_task', { sessionId });
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect(await on.on.file('a.txt')).toBe('one\ntwo\n');
    const receipt = await fetch(`${on.on.server.url}/api/tasks/${await taskIdOf(on)}/receipt`, {
      headers: { authorization: `Bearer ${on.on.server.token}` },
    });
    expect(await receipt.text()).toMatch(/"channel": ?"card"/);
  });

  test('with human-only the card shows the action without a code, and a decision of the card is refused', async () => {
    const on = await chat(['--approvals', 'human-only']);
    const { code, decision, page } = await shownOf(on);
    expect(code).toBeUndefined();
    expect(page).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/page#task=/);
    const { sessionId } = on;
    const refused = await on.call(DECIDE_ON_CARD, { sessionId, code: 'any', decision });
    expect(errorOf(refused)).toBe('FORBIDDEN');
  });
});

if (PAGE_BROWSER === undefined) process.emitWarning(`skipped: ${NO_BROWSER}`);

(PAGE_BROWSER === undefined ? describe.skip : describe)('the approval card in a host', () => {
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  beforeAll(async () => {
    browser = await startBrowser(PAGE_BROWSER);
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await page.context().close();
    expect(problems).toEqual([]);
  });

  /** Shows the card of a chat in the host. */
  async function show({ client, call, waiting }: Chat, theme = 'light'): Promise<FrameLocator> {
    const { contents } = await client.readResource({ uri: APPROVAL_CARD_URI });
    const html = z.object({ text: z.string() }).parse(contents[0]).text;
    const host = await startCardHost(html);
    closeAfterTest(() => host.close());
    page = await browser.newPage({ viewport: { width: 600, height: 900 } });
    problems.length = 0;
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.exposeFunction('callBridge', call);
    await page.goto(host.address);
    const card = JSON.stringify({ address: host.card, result: waiting, theme });
    await page.evaluate(`showCard(${card})`);
    return page.frameLocator('iframe');
  }

  test('the card shows the diff, “Approve” runs the action, and the card follows the task to its end', async () => {
    const on = await chat();
    const card = await show(on);
    await card.getByText('+2', { exact: true }).waitFor();
    expect(await card.locator('.diff').innerText()).toContain('two');
    await card.getByRole('button', { name: 'Approve' }).click();
    await card.getByText('The task is completed.').waitFor();
    expect(await on.on.file('a.txt')).toBe('one\ntwo\n');
    await page.waitForFunction('modelContext.length === 1');
    expect(await page.evaluate('modelContext')).toEqual([
      expect.stringMatching(/^The person decided ".*a\.txt.*" on the approval card: approve\.$/),
    ]);
  });

  test('“Deny” with a reason does not run the action, and “Edit” runs the edited text; a refusal disappears when the person edits again', async () => {
    const denied = await chat();
    const card = await show(denied);
    await card.getByLabel('Reason for the denial').fill('not this file');
    await card.getByRole('button', { name: 'Deny' }).click();
    await card.getByText('The task is completed.').waitFor();
    expect(await denied.on.file('a.txt')).toBeUndefined();
    await page.context().close();
    const edited = await chat();
    const second = await show(edited);
    await second.getByRole('button', { name: 'Edit' }).click();
    await second.getByLabel('The edited input').fill('two\n');
    await writeFile(join(edited.on.server.workspace, 'a.txt'), 'meanwhile\n');
    await second.getByRole('button', { name: 'Approve as edited' }).click();
    await second.getByRole('region', { name: 'Write a.txt' }).getByRole('alert').waitFor();
    await second.getByLabel('The edited input').fill('three\n');
    await second.getByRole('alert').waitFor({ state: 'detached' });
    await second.getByRole('button', { name: 'Approve as edited' }).click();
    await second.getByText('The task is completed.').waitFor();
    expect(await edited.on.file('a.txt')).toBe('three\n');
  });

  test('if another channel decides first, the card says so and shows the task as it is', async () => {
    const on = await chat();
    const card = await show(on);
    await card.getByRole('button', { name: 'Approve' }).waitFor();
    await denyElsewhere(on);
    await card.getByRole('button', { name: 'Approve' }).click();
    await card.getByRole('alert').waitFor();
    await card.getByText('The task is completed.').waitFor();
    expect(await on.on.file('a.txt')).toBeUndefined();
  });

  test('if the person has decided elsewhere and comes back to the chat, the card shows the task as it is', async () => {
    const on = await chat();
    const card = await show(on);
    await card.getByRole('button', { name: 'Approve' }).waitFor();
    await denyElsewhere(on);
    await card
      .locator('body')
      .evaluate((body) => body.ownerDocument.dispatchEvent(new Event('visibilitychange')));
    await card.getByText('The task is completed.').waitFor();
    expect(await card.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  });

  test('the reason why a decision was refused stays while the card follows the task', async () => {
    const on = await chat([], HOST, plan(write('a.txt', 'one\n'), wait(100)));
    const [waits, answered, next] = [signal(), signal(), signal()];
    let waited = 0;
    const card = await show({
      ...on,
      async call(name, args) {
        if (!('waitSeconds' in args) || args.waitSeconds === 0) return on.call(name, args);
        waited += 1;
        if (waited > 1) {
          next.happen();
          return on.call(name, args);
        }
        waits.happen();
        await answered.happened;
        return on.call(name, { ...args, waitSeconds: 0 });
      },
    });
    await card.getByRole('button', { name: 'Approve' }).waitFor();
    const { callId, shown } = (await shownOf(on)).decision;
    const { sessionId } = on;
    const denial = { sessionId, callId, shown, decision: 'deny', waitSeconds: 0 };
    await on.call('approve_or_deny_pending_action', denial);
    await card.getByRole('button', { name: 'Approve' }).click();
    await card.getByRole('alert').waitFor();
    await waits.happened;
    answered.happen();
    // The card waits again only after it has handled the answer.
    await next.happened;
    expect(await card.getByRole('alert').count()).toBe(1);
  });

  test('if another channel decides first, the card shows who decided, and what the person had written', async () => {
    const together = [write('a.txt', 'one\n'), write('b.txt', 'two\n'), write('c.txt', 'three\n')];
    const on = await chat([], HOST, plan({ together }, { say: 'Written.' }));
    const card = await show(on);
    const action = (title: string): Locator => card.getByRole('region', { name: title });
    await action('Write a.txt').getByLabel('Reason for the denial').fill('not this file');
    await action('Write b.txt').getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('The edited input').fill('a better line\n');
    const { pending } = cardState.parse(
      (await on.call(GET_STATE, { sessionId: on.sessionId })).structuredContent,
    );
    for (const { action: other } of pending.slice(0, 2))
      await on.call('approve_or_deny_pending_action', {
        sessionId: on.sessionId,
        callId: other.callId,
        shown: other.shown,
        decision: 'deny',
      });
    await action('Write c.txt').getByRole('button', { name: 'Approve' }).click();
    await card.getByText('The task is completed.').waitFor();
    for (const [title, written] of [
      ['Write a.txt', 'not this file'],
      ['Write b.txt', 'a better line'],
    ] as const) {
      const [outcome, ...texts] = await action(title).locator('.outcome ~ *, .outcome').allTextContents();
      expect(outcome).toMatch(/^Denied by principal-\d+ in a tool call of the MCP client\.$/);
      expect(texts.map((each) => each.trim())).toEqual(['You had written:', written]);
    }
    expect(await action('Write c.txt').count()).toBe(0);
    expect(await card.getByRole('button', { name: /Approve|Deny|Edit/ }).count()).toBe(0);
    // The focus is in the card, although the pressed button is gone.
    expect(await card.locator('#page :focus').count()).toBe(1);
  });

  test('with human-only the card has no buttons that decide, and opens the page', async () => {
    const on = await chat(['--approvals', 'human-only']);
    const card = await show(on, 'dark');
    await card.getByText('Only you can decide this').waitFor();
    expect(await card.getByRole('button', { name: /Approve|Deny|Edit/ }).count()).toBe(0);
    await card.getByRole('button', { name: 'Decide on the approval page' }).click();
    await page.waitForFunction('openedLinks.length === 1');
    expect(String(await page.evaluate('openedLinks[0]'))).toMatch(/\/page#task=/);
    expect(await page.evaluate('called')).toEqual([GET_STATE]);
  });

  test('the card ignores messages of other windows', async () => {
    const on = await chat();
    const card = await show(on);
    await card.getByRole('button', { name: 'Approve' }).waitFor();
    const html = await readFile(join(process.cwd(), 'dist', 'web', 'card.html'), 'utf8');
    expect(html).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
    const forged = {
      jsonrpc: '2.0',
      method: 'ui/notifications/tool-result',
      params: { structuredContent: { sessionId: 'other' } },
    };
    await card.locator('body').evaluate((body, message) => {
      body.ownerDocument.defaultView?.postMessage(message, '*');
    }, forged);
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
    expect(await card.getByRole('button', { name: 'Approve' }).count()).toBe(1);
    expect(await page.evaluate('called')).toEqual([GET_STATE]);
  });
});
