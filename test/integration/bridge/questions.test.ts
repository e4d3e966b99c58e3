/** Tests a question of the model: a real server sends it over the bridge to a person, and the answer returns. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { askPerson, plan } from '../../support/offline-plan.ts';
import { signal } from '../../support/signal.ts';
import { sharedStage, type SharedStage } from '../../support/shared-stage.ts';
import { DECIDE, DELEGATE, FAST_ANSWERS, bridgeStart, closing, program } from './support/bridge-stage.ts';
import {
  FORM_CLIENTS,
  type FormClient,
  type FormResult,
  type Person,
  textOf,
} from './support/form-client.ts';

const TASK = plan(askPerson('Which colour?', ['red', 'blue']));

describe.each(FORM_CLIENTS)('%s', (_, connect) => {
  async function clientAt({ server }: SharedStage, person: Person, ...args: string[]): Promise<FormClient> {
    const start = await bridgeStart(server, { args: [...FAST_ANSWERS, ...args] });
    return closing(await connect(program, start, person));
  }

  test('R16 R67 a form shows the question to the person, and the model receives the person’s choice', async () => {
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

  test('R67 the form of a question with several choices has one checkbox for each choice', async () => {
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

  test('R67 if the person declines the form, the model learns that the person gave no answer', async () => {
    const client = await clientAt(await sharedStage(), () => ({ action: 'decline' }));
    const done = await client.call(DELEGATE, { task: TASK });
    expect(done.structuredContent).toMatchObject({
      state: 'completed',
      output: expect.stringContaining('The person declined to answer.'),
    });
  });

  test('R67 the tool refuses an approval as an answer, and refuses an answer that is not one of the choices', async () => {
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
    expect(textOf(asked)).toMatch(/send what they say with \S+ \(decision "answer", answer, title/);
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

  test('R67 with human-only, a tool call cannot answer for the person', async () => {
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
