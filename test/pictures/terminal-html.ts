/** Converts the screen of a terminal to HTML. `tmux capture-pane -e` gives text with SGR sequences (ECMA-48 §8.3.117). */

/** The first 16 colours of xterm's palette, as they look on a dark ground. */
const PALETTE =
  '#2e3436 #cc6666 #8ec07c #d8b35c #81a2be #b294bb #8abeb7 #c5c8c6 #6c7378 #ff8080 #a5e08c #ffd866 #99c0f0 #d8a0e0 #a0e0d8 #ffffff'.split(
    ' ',
  );
const GROUND = '#1e1e2e';
const INK = '#cdd6f4';

interface Style {
  ink: string | undefined;
  ground: string | undefined;
  bold: boolean;
  faint: boolean;
  italic: boolean;
  underlined: boolean;
  inverse: boolean;
}

const PLAIN: Style = {
  ink: undefined,
  ground: undefined,
  bold: false,
  faint: false,
  italic: false,
  underlined: false,
  inverse: false,
};

/** Returns a whole page. */
export function terminalPage(screen: string): string {
  return `<!doctype html><meta charset="utf-8"><style>
    body { margin: 0; background: ${GROUND} }
    pre { margin: 0; padding: 12px 16px; display: inline-block; color: ${INK}; background: ${GROUND};
      font: 15px/1.25 "DejaVu Sans Mono", monospace; font-variant-ligatures: none }
  </style><pre>${terminalHtml(screen)}</pre>`;
}

export function terminalHtml(screen: string): string {
  const [first = '', ...parts] = screen.split('\u{1b}');
  let style = PLAIN;
  let html = span(style, first);
  for (const part of parts) {
    const [, codes, shown] = /^\[([\d;:]*)m([^]*)$/.exec(part) ?? [];
    if (codes !== undefined) style = styleAfter(style, codes.split(/[;:]/).map(Number));
    html += span(style, shown ?? textAfterLink(part));
  }
  return html;
}

/** `ESC ] 8 ; ; address ESC \\` begins a link. The picture shows its text alone. */
function textAfterLink(part: string): string {
  return part.startsWith('\\') ? part.slice(1) : '';
}

function span(style: Style, text: string): string {
  return text === '' ? '' : `<span style="${css(style)}">${escaped(text)}</span>`;
}

function styleAfter(before: Style, codes: readonly number[]): Style {
  let style = before;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const { colour, length } = extendedColour(codes.slice(at + 1));
      style = { ...style, [code === 38 ? 'ink' : 'ground']: colour };
      at += length;
    } else style = { ...style, ...change(code) };
  }
  return style;
}

function change(code: number): Partial<Style> {
  if (code >= 30 && code <= 37) return { ink: PALETTE[code - 30] };
  if (code >= 90 && code <= 97) return { ink: PALETTE[code - 82] };
  if (code >= 40 && code <= 47) return { ground: PALETTE[code - 40] };
  if (code >= 100 && code <= 107) return { ground: PALETTE[code - 92] };
  return CHANGES.get(code) ?? {};
}

const CHANGES: ReadonlyMap<number, Partial<Style>> = new Map<number, Partial<Style>>([
  [0, PLAIN],
  [1, { bold: true }],
  [2, { faint: true }],
  [3, { italic: true }],
  [4, { underlined: true }],
  [7, { inverse: true }],
  [22, { bold: false, faint: false }],
  [23, { italic: false }],
  [24, { underlined: false }],
  [27, { inverse: false }],
  [39, { ink: undefined }],
  [49, { ground: undefined }],
]);

/** `5;n` is a colour of the palette, `2;r;g;b` a true colour. */
function extendedColour([kind, ...rest]: readonly number[]): { colour: string | undefined; length: number } {
  const [first = 0, second = 0, third = 0] = rest;
  return kind === 2
    ? { colour: `rgb(${first},${second},${third})`, length: 4 }
    : { colour: paletteColour(first), length: 2 };
}

/** The colours from 16 are a cube of 6 × 6 × 6, and those from 232 are greys. */
function paletteColour(index: number): string | undefined {
  if (index < 16) return PALETTE[index];
  if (index >= 232)
    return `rgb(${Array(3)
      .fill(8 + (index - 232) * 10)
      .join(',')})`;
  const place = index - 16;
  return `rgb(${level(Math.floor(place / 36))},${level(Math.floor(place / 6) % 6)},${level(place % 6)})`;
}

function level(value: number): number {
  return value === 0 ? 0 : 55 + value * 40;
}

function css({ ink, ground, bold, faint, italic, underlined, inverse }: Style): string {
  const [front, back] = inverse ? [ground ?? GROUND, ink ?? INK] : [ink, ground];
  return [
    front === undefined ? '' : `color:${front}`,
    back === undefined ? '' : `background:${back}`,
    bold ? 'font-weight:bold' : '',
    faint ? 'opacity:.65' : '',
    italic ? 'font-style:italic' : '',
    underlined ? 'text-decoration:underline' : '',
  ]
    .filter((each) => each !== '')
    .join(';');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
