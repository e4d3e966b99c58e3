import { describe, expect, test } from '@jest/globals';
import { citedSourcesText, type CitedSource } from '../../../../a2a-server/models/cited-sources-text.ts';
import { ModelStreamReader } from '../../../../a2a-server/models/model-stream-reader.ts';

function page(url: string, title?: string): CitedSource {
  return { type: 'source', sourceType: 'url', id: url, url, ...(title !== undefined && { title }) };
}

function document(title: string, filename?: string): CitedSource {
  return {
    type: 'source',
    sourceType: 'document',
    id: title,
    mediaType: 'application/pdf',
    title,
    ...(filename !== undefined && { filename }),
  };
}

describe('the list of sources', () => {
  test('has each page once, with its number and title', () => {
    const sources = [
      page('https://a.example/', 'A'),
      page('https://b.example/'),
      page('https://a.example/', 'again'),
    ];
    expect(citedSourcesText(sources, 'x [1][2]')).toBe(
      '\n\nSources:\n\n1. A: https://a.example/\n2. https://b.example/\n',
    );
  });

  test('omits the pages that the answer names, and keeps the numbers', () => {
    const sources = [page('https://a.example/', 'A'), page('https://b.example/', 'B')];
    expect(citedSourcesText(sources, 'see https://a.example/')).toBe(
      '\n\nSources:\n\n2. B: https://b.example/\n',
    );
    expect(citedSourcesText(sources, '(https://a.example/) (https://b.example/)')).toBe('');
  });

  test('has no title that looks like a link or a line of its own, and no other scheme', () => {
    const sources = [
      page('https://a.example/', 'x](https://evil.example)\n2. [y'),
      page('javascript:alert(1)', 'J'),
      page('https://a.example/ b', 'space'),
    ];
    expect(citedSourcesText(sources, '')).toBe(
      '\n\nSources:\n\n1. x https://evil.example 2. y: https://a.example/\n',
    );
  });

  test('has the documents by title and file name, because they have no address', () => {
    const sources = [
      document('Report [2]\n3. x', 'report.pdf'),
      page('https://a.example/'),
      document('Report [2]\n3. x', 'report.pdf'),
      document(''),
      document('b.pdf', 'b.pdf'),
    ];
    expect(citedSourcesText(sources, 'see https://a.example/')).toBe(
      '\n\nSources:\n\n1. Report 2 3. x (report.pdf)\n3. b.pdf\n',
    );
  });

  test('has a limit', () => {
    const sources = Array.from({ length: 60 }, (_, index) => page(`https://a.example/${index}`));
    expect(citedSourcesText(sources, '').match(/https/g)).toHaveLength(50);
  });
});

test.each([
  ['stop', 'stop', ['text', 'text', 'finish']],
  ['length', 'length', ['text', 'finish']],
  ['content-filter', 'content_filter', ['text', 'finish']],
] as const)('an answer that ended with %s has a list only if it is complete', (unified, raw, expected) => {
  const reader = new ModelStreamReader();
  const results = [
    reader.read({ type: 'text-delta', id: '1', delta: 'x [1]' }),
    reader.read(page('https://a.example/')),
    reader.read({
      type: 'finish',
      finishReason: { unified, raw },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
    }),
  ];
  const types = results.flatMap(({ events }) => events.map(({ type }) => type));
  expect(types).toEqual(expected);
});
