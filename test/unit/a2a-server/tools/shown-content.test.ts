import { expect, test } from '@jest/globals';
import { isOutdated } from '../../../../a2a-server/tools/shown-content.ts';
import type { PreviewWithBasis } from '../../../../a2a-server/tools/tool.ts';

const mail = (to: unknown): PreviewWithBasis => ({
  basis: 'hash-of-the-tool',
  preview: { type: 'json', value: { to, text: 'hi' } },
});

test.each(['ada@example.org', ['ada@example.org'], { name: 'ada' }, undefined])(
  'J2 a call that was read from the journal again is not outdated (to: %j)',
  (to) => {
    const stored = JSON.parse(JSON.stringify(mail(to))) as PreviewWithBasis;
    expect(isOutdated(stored, mail(to))).toBe(false);
  },
);

test('D2 a call is outdated if its content or its place differs', () => {
  expect(isOutdated(mail('a.txt'), mail('b.txt'))).toBe(true);
  expect(isOutdated(mail('a.txt'), { ...mail('a.txt'), basis: 'another' })).toBe(true);
});
