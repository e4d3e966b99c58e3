/** Writes Markdown: tables, and sections between two marks of a page. */
export type Row = readonly string[];

export function table(head: Row, rows: readonly Row[]): string {
  const line = (row: Row): string => `| ${row.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** Returns a link to the section with this title. */
export function sectionLink(title: string, page = ''): string {
  return `[${title}](${page}#${title.toLowerCase().replaceAll(' ', '-')})`;
}

/** Escapes the text of a cell, because a vertical bar ends a cell, and a line break ends the row. */
function cell(text: string): string {
  return prose(text.replaceAll(/\s+/g, ' '))
    .replaceAll('|', String.raw`\|`)
    .trim();
}

/** Escapes what Markdown and the site would read as an element, outside of code. */
export function prose(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;{')))
    .join('');
}

const END = '<!-- prettier-ignore-end -->';

/**
 * Replaces the text of a page between the marks of a section.
 * @throws Error if the page has no such section
 */
export function withSection(page: string, name: string, text: string): string {
  const begin = `<!-- npm run reference: ${name} -->\n<!-- prettier-ignore-start -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(END, from);
  if (from === -1 || to === -1) throw new Error(`No page has the marks of the section "${name}".`);
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
}
