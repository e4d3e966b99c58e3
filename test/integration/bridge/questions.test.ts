/** A question of the agent's model, from a real server through the bridge to a person and back. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { askPerson, plan } from '../../support/offline-plan.ts';
import { signal } from '../../support/signal.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { type BridgeProgram, builtBridge } from './support/bridge-program.ts';
import { FORM_CLIENTS, type FormClient, type FormResult, type Person } from './support/form-client.ts';

const DELEGATE = 'delegate_task_to_assistant';
const DECIDE = 'approve_or_deny_pending_action';
const TASK = plan(askPerson('Which colour?', ['red', 'blue']));
/** Whoever answers in these tests is no person: what is tested is not how fast they are. */
const AT_ONCE = ['--fastest-answer-seconds', '0'];

const textOf = ({ content }: FormResult): string => content.map(({ text }) => text ?? '').join('\n');

describe.each(FORM_CLIENTS)('%s', (_, connect) => {
  let program: BridgeProgram;
  const open: { close: () => Promise<unknown> }[] = [];

  beforeAll(async () => {
    program = await builtBridge();
  });
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });
  afterAll(() => program.remove());

  async function clientAt({ server }: SharedStage, person: Person, ...args: string[]): Promise<FormClient> {
    const stateDir = await mkdtemp(join(program.directory, 'state-'));
    const { url: agentUrl, token } = server;
    const client = await connect(program, { stateDir, agentUrl, token, args: [...AT_ONCE, ...args] }, person);
    open.push({ close: () => client.close().catch(() => undefined) });
    return client;
  }

  test('R16 R67 the person is shown the question in a form, and what they choose goes to the model', async () => {
    const forms: string[] = [];
    const client = await clientAt(await sharedStage(), ({ message }) => {
      forms.push(message);
      return { action: 'accept', content: { answer: 'blue' } };
    });
    const done = await client.call(DELEGATE, { task: TASK });
    expect(done.structuredContent).toMatchObject({
      state: 'completed',
      output: expect.stringContaining('blue'),
    });
    expect(forms).toEqual([expect.stringMatching(/asks:\n│ Which colour\?$/)]);
  });

  test('R67 several choices are a tick each', async () => {
    const choices = [{ label: 'red' }, { label: 'blue' }, { label: 'green' }];
    const input = { question: 'Which colours?', choices, multiple: true, freeText: true };
    const client = await clientAt(await sharedStage(), () => ({
      action: 'accept',
      content: { choice1: true, choice2: false, choice3: true, other: 'and grey' },
    }));
    const done = await client.call(DELEGATE, { task: plan({ tool: 'ask-person', input }) });
    expect(done.structuredContent).toMatchObject({
      state: 'completed',
      output: expect.stringContaining('red\ngreen\nand grey'),
    });
  });

  test('R67 to decline the form tells the model that there is no answer', async () => {
    const client = await clientAt(await sharedStage(), () => ({ action: 'decline' }));
    const done = await client.call(DELEGATE, { task: TASK });
    expect(done.structuredContent).toMatchObject({
      state: 'completed',
      output: expect.stringContaining('The person declined to answer.'),
    });
  });

  test('R67 over the tool an answer is checked: no approval, and no choice that is none', async () => {
    const client = await clientAt(await sharedStage(), () => ({ action: 'cancel' }));
    const asked = await client.call(DELEGATE, { task: TASK });
    expect(asked.structuredContent).toMatchObject({
      state: 'input_required',
      pending: [
        {
          reason: 'question',
          decisions: ['answer', 'deny'],
          preview: '│ Which colour?\n│\n│ - red\n│ - blue',
        },
      ],
    });
    expect(textOf(asked)).toMatch(/the decision "answer", with what they say in "answer"/);
    const decide = (more: object): Promise<FormResult> => client.call(DECIDE, { ...idsOf(asked), ...more });
    expect(textOf(await decide({ decision: 'approve' }))).toMatch(
      /is a question, and "approve" does not answer it/,
    );
    expect(textOf(await decide({ decision: 'trust_always' }))).toMatch(/does not answer it/);
    const green = await decide({ decision: 'answer', answer: 'green' });
    expect(green.isError).toBe(true);
    expect(textOf(green)).toMatch(/"green" is not one of its choices\. The choices are "red", "blue"/);
    const done = await decide({ decision: 'answer', answer: 'red' });
    expect(done.structuredContent).toMatchObject({
      state: 'completed',
      output: expect.stringContaining('red'),
    });
  });

  test('R67 with human-only a model does not answer for the person', async () => {
    const shown = signal();
    const person: Person = () => {
      shown.happen();
      return { action: 'cancel' };
    };
    const client = await clientAt(await sharedStage(), person, '--approvals', 'human-only');
    const asked = await client.call(DELEGATE, { task: TASK });
    await shown.happened;
    const refused = await client.call(DECIDE, { ...idsOf(asked), decision: 'answer', answer: 'red' });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(/only from the person/);
  });
});

function idsOf({ structuredContent }: FormResult) {
  const pending: unknown = structuredContent?.['pending'];
  const [first] = Array.isArray(pending) ? pending : [];
  const { title, callId, shown } = z
    .looseObject({ title: z.string(), callId: z.string(), shown: z.string() })
    .parse(first);
  return { sessionId: structuredContent?.sessionId ?? '', title, callId, shown };
}
