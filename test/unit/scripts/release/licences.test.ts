/** Tests the judgement of licences. */
import { describe, expect, it } from '@jest/globals';
import {
  packagesOfNotices,
  packagesWithoutText,
  problemsOfLicences,
} from '../../../../scripts/release/licences.ts';

const judged = (licence: string) => problemsOfLicences([{ name: 'some', version: '1.0.0', licence }]);

describe('the licences of shipped packages', () => {
  it.each(['MIT', 'Apache-2.0', '(MIT OR GPL-3.0-only)', 'MIT AND ISC'])('"%s" is accepted', (licence) => {
    expect(judged(licence)).toEqual([]);
  });

  it.each([
    'GPL-3.0-only',
    'MIT AND GPL-3.0-only',
    'BUSL-1.1',
    'UNLICENSED',
    'SEE LICENSE IN LICENSE.txt',
    '',
  ])('"%s" is refused', (licence) => {
    expect(judged(licence)).toEqual([`some 1.0.0 has the licence "${licence}", which is not accepted.`]);
  });

  it('the notices name each package, and those whose text is missing', () => {
    const line = '='.repeat(80);
    const notices = `The programs contain code.\n\n${line}\n@a/b 1.0.0 (MIT)\n\nPermission …\n\n${line}\nc 2.0.0-rc.1 (ISC)\n\nThe package contains no licence text.\n`;
    expect(packagesOfNotices(notices)).toEqual([
      { name: '@a/b', version: '1.0.0', licence: 'MIT' },
      { name: 'c', version: '2.0.0-rc.1', licence: 'ISC' },
    ]);
    expect(packagesWithoutText(notices)).toEqual(['c 2.0.0-rc.1']);
  });
});
