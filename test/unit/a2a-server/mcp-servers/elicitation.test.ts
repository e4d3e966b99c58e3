import { expect, jest, test } from '@jest/globals';
import type { ElicitRequest } from '@modelcontextprotocol/client';
import { elicit, type AskQuestion } from '../../../../a2a-server/mcp-servers/elicitation.ts';
import type { Answer } from '../../../../shared/protocol/question.ts';

const by = { principal: 'ada', channel: 'test' };
const answering = (answer: Answer) =>
  jest.fn<AskQuestion>().mockResolvedValue({ type: 'answered', answer, by });
const declining = () => jest.fn<AskQuestion>().mockResolvedValue({ type: 'declined', reason: null });

const form: ElicitRequest['params'] = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};
const url: ElicitRequest['params'] = {
  mode: 'url',
  message: 'Sign in.',
  url: 'https://example.com/in',
  elicitationId: '1',
};

test('a form stays a form, and the server gets its values', async () => {
  const ask = answering({ name: 'Ada' });
  expect(await elicit('peer', form, [ask])).toEqual({ action: 'accept', content: { name: 'Ada' } });
  expect(ask).toHaveBeenCalledWith({
    text: 'The MCP server peer asks: Who?',
    schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  });
});

test('the person sees the URL, and only their confirmation accepts the request', async () => {
  const ask = answering('Done');
  expect(await elicit('peer', url, [ask])).toEqual({ action: 'accept' });
  expect(ask.mock.calls[0]?.[0]).toMatchObject({
    text: expect.stringContaining('https://example.com/in'),
    choices: [{ label: 'Done' }, { label: 'Decline' }],
  });
  expect(await elicit('peer', url, [answering('Decline')])).toEqual({ action: 'decline' });
});

test('a person who refuses to answer declines the request', async () => {
  expect(await elicit('peer', form, [declining()])).toEqual({ action: 'decline' });
  expect(await elicit('peer', url, [declining()])).toEqual({ action: 'decline' });
});

test('without exactly one running call, the server asks nobody', async () => {
  const asks = [answering({ name: 'Ada' }), answering({ name: 'Bob' })];
  expect(await elicit('peer', form, asks)).toEqual({ action: 'cancel' });
  expect(await elicit('peer', form, [])).toEqual({ action: 'cancel' });
  for (const ask of asks) expect(ask).not.toHaveBeenCalled();
});
