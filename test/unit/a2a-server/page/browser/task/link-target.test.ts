import { expect, test } from '@jest/globals';
import { allowedLinkUrl } from '../../../../../../a2a-server/page/browser/task/link-target.ts';

test('X3 a link of foreign Markdown goes only to http and https, without a user name', () => {
  for (const href of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    '\tjavascript:alert(1)',
    'data:text/html,<script>1</script>',
    'file:///etc/passwd',
    'vbscript:x',
    '/page/sign-out',
    '//evil.example',
    '',
    'https://bank.example@evil.example/',
  ])
    expect([href, allowedLinkUrl(href)]).toEqual([href, undefined]);
  expect(allowedLinkUrl('https://good.example/a?b#c')?.href).toBe('https://good.example/a?b#c');
  expect(allowedLinkUrl('http://good.example')?.host).toBe('good.example');
});
