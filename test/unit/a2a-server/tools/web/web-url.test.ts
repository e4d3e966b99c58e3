import { describe, expect, it } from '@jest/globals';
import { createHostAllowList, parseHost } from '../../../../../a2a-server/tools/web/allowed-hosts.ts';
import { parseWebUrl } from '../../../../../a2a-server/tools/web/web-url.ts';

const none = createHostAllowList([]);

describe('webUrl, the check of a URL', () => {
  it.each([
    'http://localhost/',
    'http://LOCALHOST:3000/',
    'http://localhost./',
    'http://a.localhost/',

    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',

    'http://0x7f000001/',
    'http://127.0.0.1./',
    'http://１２７.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http://0/',

    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::7f00:1]/',

    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://10.0.0.1/',
    'https://192.168.0.1/',
    'http:\\\\127.0.0.1\\x',
    '//127.0.0.1/x',
    'http://①②⑦.⓪.⓪.①/',
  ])('X2 webUrl refuses %s before the server asks a person', (text) => {
    const base = new URL('http://example.com/');
    expect(() => parseWebUrl(text, { allowed: none, base })).toThrow(
      expect.objectContaining({ reason: 'FORBIDDEN' }),
    );
  });

  it.each([
    'file:///etc/passwd',
    'ftp://example.com/',
    'gopher://example.com/',
    'data:text/plain,x',
    'javascript:1',
  ])('X2 webUrl refuses the scheme of %s', (text) => {
    expect(() => parseWebUrl(text, { allowed: none })).toThrow(
      expect.objectContaining({
        // The client can correct this address, so it gets "invalid params".
        reason: 'MALFORMED',
        message: expect.stringMatching(/not an http or https URL/),
      }),
    );
  });

  it('X2 parseWebUrl refuses a URL with credentials, and the error does not show them', () => {
    for (const text of ['https://user:secret@example.com/', 'https://secret@example.com/']) {
      let said = '';
      try {
        parseWebUrl(text, { allowed: none });
      } catch (error) {
        said = String(error);
      }
      expect(said).toMatch(/user name or password/);
      expect(said).not.toMatch(/secret/);
    }
  });

  it.each([
    '',
    'example.com',
    'http://',
    'http://a b/',
    'http://[::1/',
    `https://example.com/${'x'.repeat(8000)}`,
  ])('X3 webUrl refuses a text that is not an absolute URL, e.g. %p', (text) => {
    expect(() => parseWebUrl(text, { allowed: none })).toThrow(
      expect.objectContaining({ reason: 'MALFORMED' }),
    );
  });

  it('webUrl returns a public URL in its normal form, without fragment', () => {
    expect(parseWebUrl('HTTPS://Bücher.Example:443/a/../b#part', { allowed: none }).href).toBe(
      'https://xn--bcher-kva.example/b',
    );
  });
});

describe('allowedHosts, the operator’s list of hosts', () => {
  it('X2 the operator can list a host, with its port or all ports, in any spelling', () => {
    const allowed = createHostAllowList(['127.0.0.1:8080', 'Wiki.Intern', '[::1]:3000', '0x0a.0.0.1']);
    const reach = (text: string) => allowed(new URL(text));
    expect(reach('http://127.0.0.1:8080/')).toBe(true);
    expect(reach('http://2130706433:8080/')).toBe(true);
    expect(reach('http://127.0.0.1:8081/')).toBe(false);
    expect(reach('http://localhost:8080/')).toBe(false);
    expect(reach('https://wiki.intern./')).toBe(true);
    expect(reach('http://wiki.intern:9/')).toBe(true);
    expect(reach('http://evil.wiki.intern/')).toBe(false);
    expect(reach('http://[0:0::1]:3000/')).toBe(true);
    expect(reach('http://10.0.0.1/')).toBe(true);
  });

  it('a URL without a port has the default port of its scheme', () => {
    const allowed = createHostAllowList(['intern:80', 'safe:443']);
    expect(allowed(new URL('http://intern/'))).toBe(true);
    expect(allowed(new URL('https://intern/'))).toBe(false);
    expect(allowed(new URL('https://safe/'))).toBe(true);
  });

  it.each([
    '',
    ' ',
    'http://host',
    'host/path',
    'user@host',
    'host:',
    'host:99999',
    '::1',
    '[::1',
    'a b',
    'host:80:80',
  ])('allowedHosts refuses %p, which is not a host', (entry) => {
    expect(parseHost(entry)).toBeUndefined();
  });
});
