/** Tests the documents in the form that readers of the published package get. */
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { globSync } from 'tinyglobby';
import { publishedPage } from '../../../../scripts/published/published-page.ts';
import { problem } from '../../../support/command-problem.ts';
import { blocksOf, commandsOf } from '../../../support/shell-blocks.ts';

const pages = globSync(['README.md', 'docs/**/*.md'])
  .toSorted()
  .map((page) => [page, publishedPage(page, readFileSync(page, 'utf8'))] as const);

describe('the published form of the documents', () => {
  it.each(pages)('%s names no file of a clone, and the programs know each command', (page, text) => {
    expect(text).not.toMatch(/node dist\/|no published package|No version is published/);
    const wrong = blocksOf(page, text).flatMap(({ commands }) =>
      commandsOf(commands)
        .map((words) => [words.join(' '), problem(words)])
        .filter(([, said]) => said !== ''),
    );
    expect(wrong).toEqual([]);
    expect(publishedPage(page, text)).toBe(text);
  });

  it('the README installs the bridge with one command of npx', () => {
    const readme = new Map(pages).get('README.md') ?? '';
    const install = blocksOf('README.md', readme).find(({ section }) => section === 'Install');
    expect(install?.commands).toMatch(/^npx -y mcp-a2a-bridge install claude +# or gemini, [^\n]*$/);
    expect(readme).toContain('`npx -y -p mcp-a2a-bridge a2a-server`');
  });

  it('a page that has neither form of a sentence is refused', () => {
    expect(() => publishedPage('README.md', '# mcp-a2a-bridge\n')).toThrow(
      'README.md does not have the text',
    );
  });
});
