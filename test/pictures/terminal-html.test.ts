import { expect, test } from '@jest/globals';
import { terminalHtml } from './terminal-html.ts';

test.each([
  [
    'a colour of the palette',
    '\u{1b}[31mred\u{1b}[39m.',
    '<span style="color:#cc6666">red</span><span style="">.</span>',
  ],
  ['a bright ground', '\u{1b}[107mx', '<span style="background:#ffffff">x</span>'],
  ['a colour of the cube', '\u{1b}[38;5;196mx', '<span style="color:rgb(255,0,0)">x</span>'],
  ['a grey', '\u{1b}[48;5;232mx', '<span style="background:rgb(8,8,8)">x</span>'],
  [
    'a true colour, then bold',
    '\u{1b}[38;2;1;2;3;1mx',
    '<span style="color:rgb(1,2,3);font-weight:bold">x</span>',
  ],
  ['inverse', '\u{1b}[7mx', '<span style="color:#1e1e2e;background:#cdd6f4">x</span>'],
  ['a reset', '\u{1b}[1;4m\u{1b}[mx', '<span style="">x</span>'],
  ['markup', '<b>&', '<span style="">&lt;b>&amp;</span>'],
  ['a link', '\u{1b}]8;;https://a.example\u{1b}\\x\u{1b}]8;;\u{1b}\\', '<span style="">x</span>'],
])('%s becomes HTML', (_name, screen, html) => expect(terminalHtml(screen)).toBe(html));
