import { expect, jest, test } from '@jest/globals';
import {
  answerElicitation,
  type AskQuestion,
  type Elicitation,
} from '../../../../a2a-server/mcp-servers/elicitation.ts';
import type { CandidateCalls, RunningMcpCall } from '../../../../a2a-server/mcp-servers/running-calls.ts';
import type { Answer } from '../../../../shared/protocol/question.ts';

const by = { principal: 'ada', channel: 'test' };
const answering = (answer: Answer) =>
  jest.fn<AskQuestion>().mockResolvedValue({ type: 'answered', answer, by });
const declining = () => jest.fn<AskQuestion>().mockResolvedValue({ type: 'declined', reason: null });

const call = (ask: AskQuestion, more: Partial<RunningMcpCall> = {}): RunningMcpCall => ({
  toolId: 'note-1',
  tool: 'note',
  input: {},
  principal: 'ada',
  ask,
  onOutput: () => undefined,
  answeredLate: () => undefined,
  ...more,
});
const one = (ask: AskQuestion): CandidateCalls => ({ calls: [call(ask)], known: false });

const form: Elicitation = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};
const url: Elicitation = {
  mode: 'url',
  message: 'Sign in.',
  url: 'https://example.com/in',
  elicitationId: '1',
};

test('the MCP server’s form reaches the person as a form, and the MCP server gets its values', async () => {
  const ask = answering({ name: 'Ada' });
  expect(await answerElicitation({ server: 'peer', params: form }, one(ask))).toEqual({
    action: 'accept',
    content: { name: 'Ada' },
  });
  expect(ask).toHaveBeenCalledWith(
    {
      text: 'The MCP server peer asks: Who?',
      schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
    undefined,
  );
});

test('the person sees the URL of the MCP server’s request, and only the person’s confirmation accepts it', async () => {
  const ask = answering('Done');
  expect(await answerElicitation({ server: 'peer', params: url }, one(ask))).toEqual({ action: 'accept' });
  expect(ask.mock.calls[0]?.[0]).toMatchObject({
    text: expect.stringContaining('https://example.com/in'),
    choices: [{ label: 'Done' }, { label: 'Decline' }],
  });
  expect(await answerElicitation({ server: 'peer', params: url }, one(answering('Decline')))).toEqual({
    action: 'decline',
  });
});

test('X3 the server declines a URL of more than 8,000 characters, and asks no person', async () => {
  const ask = answering('Done');
  const long = { ...url, url: `https://example.com/${'x'.repeat(8_000)}` };
  expect(await answerElicitation({ server: 'peer', params: long }, one(ask))).toEqual({ action: 'decline' });
  expect(ask).not.toHaveBeenCalled();
});

test('if a person refuses to answer, the MCP server’s request is declined', async () => {
  expect(await answerElicitation({ server: 'peer', params: form }, one(declining()))).toEqual({
    action: 'decline',
  });
  expect(await answerElicitation({ server: 'peer', params: url }, one(declining()))).toEqual({
    action: 'decline',
  });
});

test('a question with a known call reaches that call’s task, and names no other call', async () => {
  const [ask, other] = [answering({ name: 'Ada' }), answering({ name: 'Bob' })];
  const calls = [call(ask), call(other, { principal: 'bob', tool: 'look' })];
  expect(await answerElicitation({ server: 'peer', params: form }, { calls, known: true })).toMatchObject({
    action: 'accept',
  });
  expect(ask.mock.calls[0]?.[0].text).toBe('The MCP server peer asks: Who?');
  expect(other).not.toHaveBeenCalled();
});

test('a question without a call names all running calls, if they belong to one principal', async () => {
  const [ask, other] = [answering({ name: 'Ada' }), answering({ name: 'Bob' })];
  const calls = [call(ask, { input: { text: 'a' } }), call(other, { tool: 'look' })];
  expect(await answerElicitation({ server: 'peer', params: form }, { calls, known: false })).toEqual({
    action: 'accept',
    content: { name: 'Ada' },
  });
  expect(ask.mock.calls[0]?.[0].text).toBe(
    'The MCP server peer asks: Who?\n\nThe server runs 2 calls and does not say which one asks:\n' +
      '- note {"text":"a"}\n- look {}',
  );
  expect(other).not.toHaveBeenCalled();
});

test('a question without a call is declined if the calls belong to several principals, or if no call runs', async () => {
  const asks = [answering({ name: 'Ada' }), answering({ name: 'Bob' })];
  const [ada, bob] = asks.map((ask, n) => call(ask, { principal: n === 0 ? 'ada' : 'bob' }));
  if (ada === undefined || bob === undefined) throw new Error('two calls');
  expect(
    await answerElicitation({ server: 'peer', params: form }, { calls: [ada, bob], known: false }),
  ).toEqual({
    action: 'cancel',
  });
  expect(await answerElicitation({ server: 'peer', params: form }, { calls: [], known: false })).toEqual({
    action: 'cancel',
  });
  expect(await answerElicitation({ server: 'peer', params: form }, { calls: [], known: true })).toEqual({
    action: 'cancel',
  });
  for (const ask of asks) expect(ask).not.toHaveBeenCalled();
});
