import { expect, it } from '@jest/globals';
import { Command } from 'commander';
import { helpFormat } from '../../../../shared/runtime/help-sections.ts';

function help(isTTY: boolean, width: number): string {
  return new Command('program')
    .configureHelp({ ...helpFormat({ isTTY }), helpWidth: width })
    .option(`--${'a'.repeat(44)}`, 'does what a person wants, and says so in a sentence')
    .helpInformation();
}

it.each([80, 40])('at a terminal of %i columns, the help splits no word, and no row is wider', (width) => {
  const rows = help(true, width).split('\n');
  expect(rows.filter((row) => row.length > Math.max(width, 48))).toEqual([]);
  expect(rows.join(' ').replaceAll(/ +/g, ' ')).toContain(
    'does what a person wants, and says so in a sentence',
  );
});

it('in a pipe, a long option and its description are on one line', () => {
  expect(help(false, 80)).toMatch(/--a+ +does what a person wants, and says so in a sentence\n/);
});
