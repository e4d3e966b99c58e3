import { expect, test } from '@jest/globals';
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { separateThinking } from '../../../../../a2a-server/models/provider-requests/think-tags.ts';

/** Returns the answer and the reasoning of a stream with these pieces of text. */
async function separated(...pieces: string[]): Promise<{ text: string; reasoning: string }> {
  const parts: LanguageModelV3StreamPart[] = [
    { type: 'text-start', id: '1' },
    ...pieces.map((delta) => ({ type: 'text-delta' as const, id: '1', delta })),
    { type: 'text-end', id: '1' },
  ];
  let [text, reasoning] = ['', ''];
  for await (const part of ReadableStream.from<LanguageModelV3StreamPart>(parts).pipeThrough(
    separateThinking(),
  )) {
    if (part.type === 'text-delta') text += part.delta;
    if (part.type === 'reasoning-delta') reasoning += part.delta;
  }
  return { text, reasoning };
}

test('text between the tags at the start of an answer is reasoning, for every cut into pieces', async () => {
  const answer = '\n<think>\nIs 1 < 2? </thin air>\n</think>\n\nYes: <think> is a tag.';
  const expected = { text: 'Yes: <think> is a tag.', reasoning: '\nIs 1 < 2? </thin air>\n' };
  expect(await separated(answer)).toEqual(expected);
  expect(await separated(...answer.split(''))).toEqual(expected);
  for (let at = 1; at < answer.length; at += 1)
    expect(await separated(answer.slice(0, at), answer.slice(at))).toEqual(expected);
});

test.each([
  ['an answer without tags', '  a <b> c', { text: '  a <b> c', reasoning: '' }],
  ['an answer that is the beginning of a tag', ' <thi', { text: ' <thi', reasoning: '' }],
  ['reasoning that never ends', '<think>I see </th', { text: '', reasoning: 'I see </th' }],
  ['empty reasoning', '<think>\n\n</think>\n\nYes.', { text: 'Yes.', reasoning: '\n\n' }],
])('%s', async (_, answer, expected) => {
  expect(await separated(answer)).toEqual(expected);
  expect(await separated(...answer.split(''))).toEqual(expected);
});
