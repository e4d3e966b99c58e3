/**
 * The effect of an HTML element on the text of a page. `breaks` is the number of line breaks before and after the
 * element. Two breaks make an empty line.
 */
export type ElementLayout = { breaks: number } & (
  | {
      type:
        | 'plain'
        | 'hidden'
        | 'item'
        | 'row'
        | 'cell'
        | 'link'
        | 'as-written'
        | 'main'
        | 'line-end'
        | 'rule';
    }
  | { type: 'heading'; level: number }
  | { type: 'list'; numbered: boolean }
);

const NAMES = {
  /** The elements whose text is left out: those without readable text, and the navigation and footer of a page. */
  hidden:
    'nav aside footer title script style template noscript iframe object svg math canvas button select textarea datalist img picture video audio dialog',
  spaced: 'p blockquote table dl figure details fieldset hgroup',
  block:
    'address body caption dd div dt figcaption form header html legend section summary tbody tfoot thead optgroup option',
} as const;

const LAYOUTS: ReadonlyMap<string, ElementLayout> = new Map<string, ElementLayout>([
  ...layoutForEach(NAMES.hidden, { type: 'hidden', breaks: 0 }),
  ...layoutForEach(NAMES.spaced, { type: 'plain', breaks: 2 }),
  ...layoutForEach(NAMES.block, { type: 'plain', breaks: 1 }),
  ...layoutForEach('main article', { type: 'main', breaks: 2 }),
  ...layoutForEach('pre', { type: 'as-written', breaks: 2 }),
  ...layoutForEach('ol', { type: 'list', numbered: true, breaks: 1 }),
  ...layoutForEach('ul menu', { type: 'list', numbered: false, breaks: 1 }),
  ...layoutForEach('li', { type: 'item', breaks: 1 }),
  ...layoutForEach('tr', { type: 'row', breaks: 1 }),
  ...layoutForEach('td th', { type: 'cell', breaks: 0 }),
  ...layoutForEach('a', { type: 'link', breaks: 0 }),
  ...layoutForEach('br', { type: 'line-end', breaks: 0 }),
  ...layoutForEach('hr', { type: 'rule', breaks: 2 }),
  ...[1, 2, 3, 4, 5, 6].map((level): [string, ElementLayout] => [
    `h${level}`,
    { type: 'heading', level, breaks: 2 },
  ]),
]);

const PLAIN: ElementLayout = { type: 'plain', breaks: 0 };
const HIDDEN: ElementLayout = { type: 'hidden', breaks: 0 };

export function elementLayoutOf(name: string, attributes: Readonly<Record<string, string>>): ElementLayout {
  if ('hidden' in attributes || attributes['aria-hidden'] === 'true') return HIDDEN;
  if (attributes['role'] === 'navigation') return HIDDEN;
  if (attributes['role'] === 'main') return { type: 'main', breaks: 2 };
  return LAYOUTS.get(name) ?? PLAIN;
}

function layoutForEach(names: string, layout: ElementLayout): [string, ElementLayout][] {
  return names.split(' ').map((name) => [name, layout]);
}
