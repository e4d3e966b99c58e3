/**
 * Tests the bridge with agents that ask for a sign-in or a form, and with agents whose results contain files and
 * data.
 */
import { describe, expect, test } from '@jest/globals';
import { type AgentCard, type Artifact, TaskState } from '@a2a-js/sdk';
import { type AskingOptions, askingExecutor } from '../../support/fake-agent-asking.ts';
import { plainAgent, type PlainAgent } from '../../support/fake-agent-plain.ts';
import { part } from '../../support/fake-agent-task.ts';
import { DECIDE, DELEGATE, WAIT, closeAfterTest, startClient } from './support/bridge-stage.ts';
import { type RawClient, textOf, type ToolResult, refusalOf, sessionOf } from './support/raw-client.ts';

const words = (value: string) => part({ $case: 'text', value });
const data = (value: unknown) => part({ $case: 'data', value });
const artifact = (name: string, parts: Artifact['parts']): Artifact => ({
  artifactId: name,
  name,
  description: '',
  parts,
  metadata: undefined,
  extensions: [],
});

const questionIn = (result: ToolResult): { callId: string; shown: string } => {
  const [, callId = '', shown = ''] = /callId "([^"]+)", shown "([^"]+)"/.exec(textOf(result)) ?? [];
  return { callId, shown };
};

describe.each(['1.0', '0.3'] as const)('agents that wait for a person, A2A %s', (version) => {
  let agent: PlainAgent;
  let client: RawClient;

  async function start(
    what: Omit<AskingOptions, 'received'>,
    card: Partial<AgentCard> = {},
  ): Promise<AskingOptions['received']> {
    const received: AskingOptions['received'] = [];
    agent = await plainAgent(version, { executor: askingExecutor({ ...what, received }), card });
    closeAfterTest(() => agent.stop());
    client = await startClient(agent);
    return received;
  }
  const delegate = (task: string, more: object = {}): Promise<ToolResult> =>
    client.call(DELEGATE, { task, ...more });
  const answer = (asked: ToolResult, text: string): Promise<ToolResult> =>
    client.call(DECIDE, {
      sessionId: sessionOf(asked),
      ...questionIn(asked),
      decision: 'answer',
      answer: text,
    });

  const signIn = {
    state: TaskState.TASK_STATE_AUTH_REQUIRED,
    parts: [words('Sign in first.'), data({ auth: { scheme: 'oauth2', url: 'https://id.example/go?x=1' } })],
    artifacts: [artifact('answer', [words('Signed in, and done.')])],
  } as const;

  test('R69 a result about a sign-in shows the address from the data part, and the next step', async () => {
    await start({ ...signIn, parts: [...signIn.parts], artifacts: [...signIn.artifacts] });
    const asked = await delegate('read my mail');
    expect(asked.structuredContent).toMatchObject({ state: 'input_required', pending: [] });
    expect(textOf(asked)).toContain('Sign in first.');
    expect(textOf(asked)).toContain('To open in a browser: https://id.example/go?x=1');
    expect(textOf(asked)).toContain('Once they have, tell it so');
    const again = await client.call(WAIT, { sessionId: sessionOf(asked) });
    expect(again.structuredContent).toMatchObject({ state: 'input_required' });
    const done = await answer(asked, 'I have signed in');
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'Signed in, and done.' });
  });

  test('R69 D2 if a session waits for a sign-in, the bridge refuses a message, shows the agent’s question and sends nothing', async () => {
    const received = await start({ ...signIn, parts: [...signIn.parts], artifacts: [...signIn.artifacts] });
    const asked = await delegate('read my mail');
    const before = received.length;
    const refused = await delegate('done, go on', { sessionId: sessionOf(asked) });
    expect(refusalOf(refused)).toContain('│ Sign in first.');
    expect(textOf(refused)).toContain('decision "answer"');
    expect(received).toHaveLength(before);
  });

  const schema = {
    type: 'object',
    properties: { date: { type: 'string' }, amount: { type: 'number' } },
    required: ['date', 'amount'],
  };

  test('R69 a result shows the agent’s form, and the bridge sends an answer in JSON as a data part', async () => {
    const received = await start({
      state: TaskState.TASK_STATE_INPUT_REQUIRED,
      parts: [words('Fill this in.'), data({ type: 'form', form: schema })],
    });
    const asked = await delegate('reimburse me');
    expect(textOf(asked)).toContain('Fill this in.');
    expect(textOf(asked)).toContain('"amount"');
    const refused = await answer(asked, '{"date":"2025-01-01"}');
    expect(refusalOf(refused)).toContain('asks for "amount" too');
    expect(received).toHaveLength(1);
    const done = await answer(asked, '{"date":"2025-01-01","amount":12}');
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
    expect(received.at(-1)).toMatchObject([
      { content: { $case: 'data', value: { date: '2025-01-01', amount: 12 } } },
    ]);
  });

  test('R69 D1 an agent without streams repeats the question in its response, and the bridge waits for the next step', async () => {
    const received = await start(
      {
        state: TaskState.TASK_STATE_INPUT_REQUIRED,
        parts: [words('Go?')],
        artifacts: [artifact('answer', [words('Gone.')])],
      },
      {
        capabilities: {
          streaming: false,
          pushNotifications: false,
          extensions: [],
          extendedAgentCard: false,
        },
      },
    );
    const done = await answer(await delegate('travel'), 'go');
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'Gone.' });
    expect(received).toHaveLength(2);
  });

  test('R69 a result names each file with its type and its size or address, and contains data as JSON', async () => {
    await start({
      state: TaskState.TASK_STATE_INPUT_REQUIRED,
      parts: [words('Go?')],
      artifacts: [
        artifact('chart', [
          {
            ...part({ $case: 'url', value: 'https://example.com/1' }),
            filename: 'c.png',
            mediaType: 'image/png',
          },
        ]),
        artifact('sheet', [
          { ...part({ $case: 'raw', value: Buffer.from('a,b') }), filename: '', mediaType: 'text/csv' },
        ]),
        artifact('facts', [data({ unknown: { deep: [1, 2] } })]),
      ],
    });
    const asked = await delegate('report');
    const done = await answer(asked, 'go');
    for (const given of ['[c.png, image/png: https://example.com/1]', '[sheet, text/csv: 3 bytes]', '"deep"'])
      expect(done.structuredContent?.['output']).toContain(given);
  });
});
