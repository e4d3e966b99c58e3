/** Tests what an MCP client and its person see of an action that demands presence, with a real server. */
import { describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { APPROVAL_CARD_MIME_TYPE } from '../../../bridge/approvals/approval-card.ts';
import { plan, write } from '../../support/offline-plan.ts';
import { PersonAtPage, stageWithRules } from '../../support/presence-stage.ts';
import type { Stage } from '../../support/stage.ts';
import { bridgeStart, closing, DECIDE, DELEGATE, FAST_ANSWERS, program } from './support/bridge-stage.ts';
import { bridgeCommand } from './support/bridge-program.ts';
import { FORM_CLIENTS, type FormClient, type Person, textOf } from './support/form-client.ts';

const RULE = { action: 'presence', path: 'secret.txt' };
const TASK = plan(write('secret.txt', 'b'), { say: 'Done.' });

const urlForm = z.looseObject({ mode: z.literal('url'), url: z.string(), message: z.string() });
const waiting = z.looseObject({
  sessionId: z.string(),
  taskId: z.string(),
  pending: z.tuple([
    z.looseObject({
      callId: z.string(),
      shown: z.string(),
      title: z.string(),
      why: z.string(),
      decisions: z.array(z.string()),
    }),
  ]),
});

const cardState = z.looseObject({
  pending: z.tuple([z.looseObject({ action: z.looseObject({ presence: z.literal(true) }) })]),
  page: z.string(),
});
const CARD_HOST = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [APPROVAL_CARD_MIME_TYPE] } } };

describe.each(FORM_CLIENTS)('%s', (_, connect) => {
  async function clientOf(
    { server }: Stage,
    person: Person,
    more: readonly string[] = [],
  ): Promise<FormClient> {
    const start = await bridgeStart(server, { args: [...FAST_ANSWERS, ...more] });
    return closing(await connect(program, start, person, { urls: true }));
  }

  test('R120 the form has no "Accept" for the action: it links to the page, where the passkey approves, and the call continues', async () => {
    const on = await stageWithRules(RULE);
    const person = await PersonAtPage.register(on);
    const forms: string[] = [];
    const client = await clientOf(on, async (form) => {
      const { url, message } = urlForm.parse(form);
      forms.push(message);
      const taskId = new URLSearchParams(new URL(url).hash.slice(1)).get('task') ?? '';
      const [action] = (await on.peer.task(taskId)).pending;
      if (action === undefined) throw new Error('no action waits');
      const { callId, shown } = action;
      const signed = await person.signed(taskId, { callId, shown, decision: 'approve' });
      await on.peer.decide(taskId, [signed]);
      return { action: 'accept' };
    });
    const done = await client.call(DELEGATE, { task: TASK, workspace: on.server.workspace });
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect(forms).toEqual([expect.stringContaining('Needs your passkey. Open the page')]);
    expect(await on.file('secret.txt')).toBe('b');
  });

  test('R120 the tool offers only to deny, and its approvals are refused with the page’s address; the result gives no link that signs in', async () => {
    const on = await stageWithRules(RULE);
    const client = await clientOf(on, () => ({ action: 'cancel' }), ['--approvals', 'tool-only']);
    const asked = await client.call(DELEGATE, { task: TASK, workspace: on.server.workspace });
    const { sessionId, pending } = waiting.parse(asked.structuredContent);
    const [{ callId, shown, title, why, decisions }] = pending;
    expect(decisions).toEqual(['deny']);
    expect(why).toMatch(/presence: only the person can approve it, with a passkey/);
    for (const more of [
      { decision: 'approve' },
      { decision: 'trust_always' },
      { decision: 'edit', editedContent: 'c' },
    ]) {
      const refused = await client.call(DECIDE, { sessionId, callId, shown, title, ...more });
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toMatch(/passkey.*http:\/\/localhost:\d+\/page#task=/s);
      expect(textOf(refused)).not.toContain('code=');
    }
    expect(await on.file('secret.txt')).toBeUndefined();
    const denied = await client.call(DECIDE, { sessionId, callId, shown, title, decision: 'deny' });
    expect(denied.structuredContent).toMatchObject({ state: 'completed' });
  });
});

test('R120 the card in a chat gets no code for the action, and names the page', async () => {
  const on = await stageWithRules(RULE);
  const client = closing(new Client({ name: 'test', version: '0' }, { capabilities: CARD_HOST }));
  const command = bridgeCommand(program, await bridgeStart(on.server, { args: FAST_ANSWERS }));
  await client.connect(new StdioClientTransport({ ...command, stderr: 'ignore' }));
  const task = { task: TASK, workspace: on.server.workspace };
  const asked = await client.callTool({ name: DELEGATE, arguments: task });
  const { sessionId } = waiting.parse(asked.structuredContent);
  const shown = await client.callTool({ name: 'get_approval_card_state', arguments: { sessionId } });
  const { pending, page } = cardState.parse(shown.structuredContent);
  expect(pending[0]).not.toHaveProperty('code');
  expect(page).toMatch(/\/page#task=/);
});
