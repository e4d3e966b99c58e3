/** The sidebar of the site, from the index in docs/README.md. Pure. */

interface Item {
  text: string;
  link: string;
}

/** Returns one group for each `##` section of the index, with one entry for each page in it. */
export function readSidebar(index: string): { text: string; items: Item[] }[] {
  return index
    .split(/^## /mu)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.indexOf('\n')),
      items: [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gmu)].map(([, text = '', path = '']) => ({
        text: text.replace(/\.md$|\/$/u, ''),
        link: `/${path.replace(/(^|\/)README\.md$/u, '$1').replace(/\.md$/u, '')}`,
      })),
    }));
}
