/** A page as a person would read it: headings, paragraphs, lists and links, without what only frames them. */
import { convert, type FormatCallback, type HtmlToTextOptions, type SelectorDefinition } from 'html-to-text';
import { linkTarget } from './link-target.ts';

/** Pages nested deeper, or with more beside one another, are made by no person. */
const LIMITS = { maxDepth: 200, maxChildNodes: 20_000, maxBaseElements: 1_000, ellipsis: '…' };

/** What frames a page, or is not for reading. */
const LEFT_OUT =
  'title nav aside footer img svg button select template noscript iframe [hidden] [aria-hidden=true]'.split(
    ' ',
  );

/** As Markdown writes it, so that a model sees the outline. */
const heading: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2 });
  builder.addInline(`${'#'.repeat(Number(element.name?.slice(1)))} `);
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 2 });
};

const SELECTORS: SelectorDefinition[] = [
  ...LEFT_OUT.map((selector) => ({ selector, format: 'skip' })),
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'markedHeading' })),
  { selector: 'ul', options: { itemPrefix: '- ' } },
  { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
  ...['td', 'th'].map((selector) => ({ selector, format: 'inlineSurround', options: { suffix: ' | ' } })),
];

/**
 * The readable text of a page; of its main part alone where it says which that is.
 * @param base what its links are relative to.
 */
export function htmlText(html: string, base: URL): string {
  const link = {
    hideLinkHrefIfSameAsText: true,
    linkBrackets: ['(', ')'] satisfies [string, string],
    pathRewrite: (href: string) => linkTarget(href, base)?.href ?? '',
  };
  const options: HtmlToTextOptions = {
    wordwrap: false,
    limits: LIMITS,
    baseElements: {
      selectors: ['main', '[role=main]', 'article'],
      orderBy: 'occurrence',
      returnDomByDefault: true,
    },
    formatters: { markedHeading: heading },
    selectors: [...SELECTORS, { selector: 'a', options: link }],
  };
  return convert(html, options)
    .replaceAll(/[ \t]+$/gmu, '')
    .replaceAll(/\n{3,}/gu, '\n\n')
    .trim();
}
