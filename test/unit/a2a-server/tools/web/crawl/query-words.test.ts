import { describe, expect, it } from '@jest/globals';
import { QueryWords, bestPassages } from '../../../../../../a2a-server/tools/web/crawl/query-words.ts';

describe('the words of a crawl query', () => {
  it.each<[string, string, number]>([
    ['abort tools', 'Aborting a TOOL', 2],
    ['naïve Café', 'the naive cafe', 2],
    ['how to abort it', 'it is up to you', 0],
    ['go', 'go away', 1],
    ['art', 'start', 0],
    ['中止工具', '如何中止工具？', 1],
    ['abort', 'see https://example.com/abort', 0],
    ['!!!', 'anything!!!', 0],
  ])('the query %p in the text %p matches %d of its words', (query, text, matches) => {
    expect(new QueryWords(query).matches(text)).toBe(matches);
  });
});

describe('bestPassages, which finds the passages of a page', () => {
  it('bestPassages returns the best five passages in text order, with their headings, and shortens long ones', () => {
    const weak = Array.from({ length: 9 }, (_, n) => `abort ${n}`);
    const text = ['# Top', '## Sub', 'nothing', ...weak, '# End', `tool abort ${'x'.repeat(900)}`].join(
      '\n\n',
    );
    const passages = bestPassages(text, new QueryWords('abort tool'));
    expect(passages.slice(0, 4)).toEqual(weak.slice(0, 4));
    expect(passages[4]).toMatch(/^# End\ntool abort x+…$/);
    expect(passages[4]).toHaveLength(800);
    expect(bestPassages('# Abort\n\n## Tool', new QueryWords('abort tool'))).toEqual(['# Abort\n## Tool']);
  });

  it('a passage needs at least half of the query words', () => {
    expect(bestPassages('one\n\none two', new QueryWords('one two three four'))).toEqual(['one two']);
  });
});
