import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { iconSvg, pageTitle } from '../../../../../../a2a-server/page/browser/home/title-and-icon.ts';

it('title and icon show the number of waiting actions', () => {
  expect([pageTitle(0), pageTitle(3)]).toEqual(['Approvals', '(3) Approvals']);
  expect(iconSvg(3)).toContain('>3</text>');
  expect(iconSvg(100)).toContain('>99+</text>');
});

it('without waiting actions, the icon is the file that the server sends', async () => {
  const file = await readFile('a2a-server/page/browser/page-icon.svg', 'utf8');
  expect(iconSvg(0)).toBe(file.trim());
});
