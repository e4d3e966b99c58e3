/** Tests that the links of the documents lead somewhere. `npm run docs` builds the site from the same pages. */
import { expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { globSync } from 'tinyglobby';
import { headingAnchor } from '../../site/.vitepress/heading-anchor.ts';
import { readSidebar } from '../../site/.vitepress/sidebar.ts';

const pages = globSync(['*.md', 'docs/**/*.md']);

/** Returns the page without fenced blocks and inline code. What is left may contain links. */
const prose = (page: string): string =>
  readFileSync(page, 'utf8')
    .replaceAll(/^```.*?^```$/gmsu, '')
    .replaceAll(/`[^`\n]*`/gu, '');

/** Returns the anchors of a page: those of its headings, and those that it sets itself. */
function anchors(page: string): string[] {
  const text = readFileSync(page, 'utf8').replaceAll(/^```.*?^```$/gmsu, '');
  const headings = [...text.matchAll(/^#+ (.*)$/gmu)].map(([, heading = '']) => headingAnchor(heading));
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)">/gu)].map(([, id = '']) => id)];
}

test('each link of a document names an existing file, and an existing anchor in it', () => {
  const links = pages.flatMap((page) =>
    [...prose(page).matchAll(/\]\(([^)\s]+)\)/gu)].map(([, href = '']) => ({ page, href })),
  );
  expect(links.length).toBeGreaterThan(200);
  const dead = links.filter(({ page, href }) => {
    if (URL.canParse(href)) return false;
    const [path = '', anchor] = href.split('#');
    const file = path === '' ? page : posix.join(posix.dirname(page), path);
    if (!existsSync(file)) return true;
    return anchor !== undefined && !anchors(file).includes(anchor);
  });
  expect(dead).toEqual([]);
});

test('the index of docs/ names each page', () => {
  const named = readSidebar(readFileSync('docs/README.md', 'utf8')).flatMap(({ items }) =>
    items.map(({ link }) => `docs${link.endsWith('/') ? `${link}README` : link}.md`),
  );
  const expected = pages.filter(
    (page) =>
      page.startsWith('docs/') &&
      page !== 'docs/README.md' &&
      (!page.startsWith('docs/decisions/') || page === 'docs/decisions/README.md'),
  );
  expect(new Set(named)).toEqual(new Set(expected));
});

test('the index of the decisions names each decision', () => {
  const index = readFileSync('docs/decisions/README.md', 'utf8');
  const named = [...index.matchAll(/^- \[[^\]]+\]\((.+)\)$/gmu)].map(([, file]) => file);
  const expected = globSync('*.md', { cwd: 'docs/decisions' }).filter((file) => file !== 'README.md');
  expect(new Set(named)).toEqual(new Set(expected));
});

test('each page says in its first line whom it serves', () => {
  const silent = globSync('docs/*.md', { ignore: 'docs/README.md' }).filter(
    (page) => !/^# .+\n\nFor \w/u.test(readFileSync(page, 'utf8')),
  );
  expect(silent).toEqual([]);
});
