import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_SAY_CHUNKS, MAX_SAY_CHARACTERS } from '../../../../../a2a-server/models/offline/offline-plan.ts';
import {
  MESSAGE_FORMS,
  MAX_OFFLINE_MESSAGE_CHARS,
  parseOfflineMessage,
} from '../../../../../a2a-server/models/offline/parse-offline-message.ts';

const call = (tool: string, input: Record<string, unknown>): unknown => ({ type: 'call', tool, input });

describe('a sentence that the offline model understands', () => {
  test.each([
    ['say hello, world', { type: 'say', text: 'hello, world' }],
    ['say "two\\nlines"', { type: 'say', text: 'two\nlines' }],
    ['Create test.md with hello', call('write-file', { path: 'test.md', content: 'hello' })],
    ['create "a b.md" with "x; then y"', call('write-file', { path: 'a b.md', content: 'x; then y' })],
    ['create a.md with one\ntwo', call('write-file', { path: 'a.md', content: 'one\ntwo' })],
    ['append more to test.md', call('append-file', { path: 'test.md', content: 'more' })],
    ['append go to it to test.md', call('append-file', { path: 'test.md', content: 'go to it' })],
    [
      'replace "a \\"b\\"" with "" in test.md',
      call('edit-file', { path: 'test.md', oldText: 'a "b"', newText: '' }),
    ],
    ['read docs/a.md', call('read-file', { path: 'docs/a.md' })],
    ['list src', call('list-files', { path: 'src' })],
    ['delete test.md', call('delete-file', { path: 'test.md' })],
    ['run `npm test -- --only x`', call('run-shell-command', { command: 'npm test -- --only x' })],
    ['fetch https://example.com/a', call('fetch', { url: 'https://example.com/a' })],
    ['wait 1.5 seconds', call('wait', { seconds: 1.5 })],
    ['ask me "Which colour?"', call('ask-person', { question: 'Which colour?' })],
  ])('%j is one step', (text, step) => {
    expect(parseOfflineMessage(text)).toEqual({ type: 'steps', form: true, steps: [step] });
  });

  test('a sentence requests nothing if the message only lets a task continue', () => {
    expect(parseOfflineMessage('Go on')).toEqual({ type: 'steps', steps: [] });
  });
});

describe('a message that the offline model does not understand', () => {
  test.each([
    'Fix the failing test and then run the tests',
    'run the tests',
    'run npm test',
    'run `a` and `b`',
    'create test.md',
    'create a game',
    'replace old with new in test.md',
    'replace "" with "b" in test.md',
    'fetch example page',
    'wait a moment',
    'wait 2 seconds, please',
    'ask me which colour',
    'please say hello',
    'read',
    '',
    '{"plan": [{"tool": "wait"}], "more": 1}',
    '{"plan": ',
    '{"plan": [{"say": "x", "repeat": 0}]}',
    `{"plan": [{"say": "x", "repeat": ${MAX_SAY_CHUNKS + 1}}]}`,
    `{"plan": [{"say": "${'x'.repeat(100)}", "repeat": ${MAX_SAY_CHARACTERS / 100 + 1}}]}`,
    `{"plan": [{"tool": "wait", "input": {"a": ${'['.repeat(200)}${']'.repeat(200)}}}]}`,
    'x'.repeat(MAX_OFFLINE_MESSAGE_CHARS + 1),
  ])('the message %.60j is refused', (text) => {
    expect(parseOfflineMessage(text)).toEqual({ type: 'refused', why: expect.stringMatching(/./) });
  });

  test('the reader never throws, for any text', () => {
    const words = MESSAGE_FORMS.map(({ verb }) => verb);
    const text = fc
      .tuple(fc.constantFrom(...words, '', '{', '```'), fc.string())
      .map((parts) => parts.join(' '));
    fc.assert(fc.property(text, (it) => ['steps', 'refused'].includes(parseOfflineMessage(it).type)));
  });
});

describe('a plan in JSON', () => {
  test.each([
    ['as it is', (json: string) => json],
    ['in a fence', (json: string) => `\`\`\`json\n${json}\n\`\`\``],
  ])('%s gives the plan’s steps', (_, written) => {
    const together = [{ tool: 'read-file', input: { path: 'a' } }, { tool: 'list-files' }];
    const json = JSON.stringify({
      plan: [{ tool: 'wait', input: { seconds: 1 } }, { together }, { say: 'x', repeat: 2 }],
    });
    expect(parseOfflineMessage(written(json))).toEqual({
      type: 'steps',
      steps: [
        call('wait', { seconds: 1 }),
        { type: 'together', calls: [together[0], { tool: 'list-files', input: {} }] },
        { type: 'say', text: 'x', repeat: 2 },
      ],
    });
  });
});
