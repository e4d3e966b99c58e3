/** Tests fetch on real sockets. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { EventEmitter, getEventListeners, once } from 'node:events';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { NO_RESOLVED_TARGETS } from '../../../../../a2a-server/policy/call-facts.ts';
import { decideVerdict } from '../../../../../a2a-server/policy/verdict.ts';
import { createFetchTool } from '../../../../../a2a-server/tools/builtin/fetch.ts';
import type { FetchDependencies } from '../../../../../a2a-server/tools/web/fetch-url.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { toolInWorkspace, type ToolInWorkspace } from '../tool-in-workspace.ts';
import { endless, openPages, openSite, webContextFor, type Site } from '../../../../support/web-site.ts';

let at: ToolInWorkspace;

beforeEach(async () => {
  at = await toolInWorkspace();
});

const html = (body: string, title = 'T') => `<!doctype html><title>${title}</title><body>${body}</body>`;

/** Fetches from a site that the operator allows. */
function fetchFrom(
  site: Site,
  path: string,
  input: Record<string, unknown> = {},
  web: Partial<FetchDependencies> = {},
) {
  return at.run(createFetchTool(webContextFor([site.host], web)), { url: site.origin + path, ...input });
}

/** Starts a site that gives the same response to every request. */
const always = (headers: Record<string, string>, body: string | Buffer, status = 200) =>
  openSite((_request, response) => void response.writeHead(status, headers).end(body));

describe('the tool fetch', () => {
  it('fetch makes a page readable: title, headings, links, lists, code and tables, without navigation', async () => {
    const site = await openPages({
      '/docs/a': `<!doctype html><html><head><title> A &amp; B </title><style>p{}</style><script>bad()</script></head>
        <body><nav><a href="/n">Menu</a></nav><main><h1>Guide</h1><p>See <a href="b?x=1#part">the next</a> page.</p>
        <ul><li>one</li><li>two</li></ul><pre><code>a  b
  c</code></pre><table><tr><th>K</th><th>V</th></tr><tr><td>1</td><td>2</td></tr></table><a href="javascript:x()">act</a>
        <p hidden>unseen</p></main><footer>Imprint</footer></body></html>`,
    });
    const { text, summary } = await fetchFrom(site, '/docs/a');
    expect(text).toBe(
      `URL: ${site.origin}/docs/a\nTitle: A & B\n\n# Guide\n\nSee the next (${site.origin}/docs/b?x=1) page.\n\n- one\n- two\n\na  b\n  c\n\nK | V\n1 | 2\n\nact`,
    );
    expect(summary).toBe(
      `fetched ${site.origin}/docs/a: 200 OK, ${text.split('\n\n').slice(1).join('\n\n').length} characters`,
    );
  });

  it('fetch returns JSON and text unchanged, and HTML unchanged with raw', async () => {
    const site = await openPages({
      '/json': (_request, response) =>
        void response.writeHead(200, { 'Content-Type': 'application/problem+json' }).end('{"a": [1,\n 2]}'),
      '/text': (_request, response) =>
        void response.writeHead(200, { 'Content-Type': 'text/plain' }).end('a\r\nb <b>'),
      '/html': html('<p>x</p>'),
    });
    expect((await fetchFrom(site, '/json')).text).toBe(`URL: ${site.origin}/json\n\n{"a": [1,\n 2]}`);
    expect((await fetchFrom(site, '/text')).text).toBe(`URL: ${site.origin}/text\n\na\nb <b>`);
    expect((await fetchFrom(site, '/html', { raw: true })).text).toContain(html('<p>x</p>'));
  });

  it('fetch shortens the text at maxCharacters, and says so', async () => {
    const site = await always({ 'Content-Type': 'text/plain' }, 'é'.repeat(150));
    const { text } = await fetchFrom(site, '/', { maxCharacters: 100 });
    expect(text).toBe(`URL: ${site.origin}/\n\n${'é'.repeat(100)}\n[… 50 characters left out …]`);
    const emoji = await always({ 'Content-Type': 'text/plain' }, `x${'🎉'.repeat(100)}`);
    expect((await fetchFrom(emoji, '/', { maxCharacters: 100 })).text).toContain(`x${'🎉'.repeat(49)}\n`);
  });

  it('fetch sends its user agent, but no cookies and no referrer, even after a redirect', async () => {
    const site = await openPages({
      '/a': (_request, response) =>
        void response.writeHead(302, { Location: '/b', 'Set-Cookie': 'id=1' }).end(),
      '/b': html('b'),
    });
    await fetchFrom(site, '/a');
    for (const { headers, method } of site.requests) {
      expect(method).toBe('GET');
      expect(headers['user-agent']).toMatch(/^mcp-a2a-bridge\/\d/);
      expect(Object.keys(headers).toSorted()).toEqual([
        'accept',
        'accept-encoding',
        'connection',
        'host',
        'user-agent',
      ]);
    }
    expect(site.asked).toEqual(['/a', '/b']);
  });

  it('X2 fetch needs an approval, shows its URL, and can run again after a lost outcome', async () => {
    const fetch = createFetchTool(webContextFor([]));
    expect(await at.show(fetch, { url: 'https://Bücher.example/a b#c' })).toEqual({
      preview: { type: 'url', url: 'https://xn--bcher-kva.example/a%20b' },
      basis: null,
    });
    expect(fetch.title({ url: 'https://example.com/\nx' })).toBe('Fetch https://example.com/↵x');
    expect(fetch.repeatable).toBe(true);
    const call = { ...fetch, tool: 'fetch', reach: NO_RESOLVED_TARGETS };
    expect(decideVerdict(call, { settings: {}, grants: [] })).toEqual({ type: 'ask' });
    expect(decideVerdict(call, { settings: { readOnly: true }, grants: [] })).toMatchObject({
      type: 'refuse',
    });
  });

  it.each([
    ['http://127.0.0.1:1/', 'FORBIDDEN'],
    ['http://[::1]/', 'FORBIDDEN'],
    ['http://localhost/', 'FORBIDDEN'],
    ['file:///etc/passwd', 'MALFORMED'],
    ['http://u:p@example.com/', 'FORBIDDEN'],
  ])('X2 fetch refuses %s in the preview and in the run as %s', async (url, reason) => {
    const fetch = createFetchTool(webContextFor([]));
    await expect(at.show(fetch, { url })).rejects.toMatchObject({ reason });
    await expect(at.run(fetch, { url })).rejects.toMatchObject({ reason });
  });

  it('fetch reports an error status as a failure, with the text of the response', async () => {
    const missing = await always({ 'Content-Type': 'text/html' }, html('<h1>Gone</h1>'), 404);
    await expect(fetchFrom(missing, '/x')).rejects.toThrow(
      `${missing.origin}/x answered 404 Not Found.\n\n# Gone`,
    );
    const broken = await always({ 'Content-Type': 'application/json' }, '{"error":"x"}', 500);
    await expect(fetchFrom(broken, '/')).rejects.toThrow(
      /answered 500 Internal Server Error\.\n\n\{"error":"x"\}$/,
    );
    const silent = await always({}, '', 503);
    await expect(fetchFrom(silent, '/')).rejects.toThrow(/answered 503 Service Unavailable\.$/);
  });

  it('fetch refuses a body that is not text, without reading it', async () => {
    const site = await openSite((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'image/png' });
      endless(response, Buffer.alloc(65_536));
    });
    await expect(fetchFrom(site, '/x.png')).rejects.toThrow(/is image\/png, which is not text/);
    const binary = await always(
      { 'Content-Type': 'application/octet-stream' },
      Buffer.from([80, 75, 3, 4, 0, 1, 2]),
    );
    await expect(fetchFrom(binary, '/')).rejects.toThrow(/which is not text/);
    const text = await always({}, 'just text');
    expect((await fetchFrom(text, '/')).text).toMatch(/just text$/);
    const page = await always({ 'Content-Type': 'application/octet-stream' }, html('<h2>Hi</h2>'));
    expect((await fetchFrom(page, '/')).text).toMatch(/## Hi$/);
  });
});

describe('redirects of fetch', () => {
  it('X2 fetch checks every redirect: an allowed host cannot redirect to a private one', async () => {
    const secret = await openPages({ '/': html('secret') });
    const targets = {
      [`${secret.origin}/`]: 'FORBIDDEN',
      [`//${secret.host}/`]: 'FORBIDDEN',
      'file:///etc/passwd': 'MALFORMED',
      'http://169.254.169.254/': 'FORBIDDEN',
      'http://u:p@example.com/': 'FORBIDDEN',
    };
    for (const [to, reason] of Object.entries(targets)) {
      const site = await openSite(
        (_request, response) => void response.writeHead(302, { Location: to }).end(),
      );
      await expect(fetchFrom(site, '/')).rejects.toMatchObject({ reason });
    }
    expect(secret.asked).toEqual([]);
  });

  it('X2 fetch checks the addresses of a host name at each connection, and connects only to these addresses', async () => {
    const site = await openPages({
      '/': (_request, response) =>
        void response.writeHead(301, { Location: `http://rebound.test:${site.port}/in` }).end(),
      '/in': html('inside'),
    });
    const asked: string[] = [];
    const resolve = (host: string) => {
      asked.push(host);
      return Promise.resolve(['127.0.0.1']);
    };
    const start = `http://start.test:${site.port}/`;
    const fetch = (allow: string[]) =>
      at.run(createFetchTool(webContextFor(allow, { resolve })), { url: start });
    await expect(fetch([])).rejects.toThrow(
      /start\.test:\d+ is at 127\.0\.0\.1, which is this machine \(loopback\)/,
    );
    expect(site.asked).toEqual([]);
    await expect(fetch(['start.test'])).rejects.toThrow(/rebound\.test:\d+ is at 127\.0\.0\.1/);
    expect(site.asked).toEqual(['/']);
    asked.length = 0;
    expect((await fetch(['start.test', 'rebound.test'])).text).toMatch(/inside$/);
    // fetch looks up each host once per connection, and connects to the addresses that it has checked.
    expect(asked).toEqual(['start.test', 'rebound.test']);
    expect(site.requests.at(-1)?.headers.host).toBe(`rebound.test:${site.port}`);
  });

  it('X2 fetch refuses a host name with one private address among public ones', async () => {
    const addresses = ['93.184.215.14', '::ffff:10.0.0.1'];
    const fetch = createFetchTool(webContextFor([], { resolve: () => Promise.resolve(addresses) }));
    await expect(at.run(fetch, { url: 'http://mixed.test/' })).rejects.toThrow(/inside an IPv6 address/);
  });

  it('X3 fetch follows no redirect loop and no endless chain', async () => {
    const circle = await openSite((request, response) => {
      response.writeHead(302, { Location: request.url === '/a' ? '/b' : '/a' }).end();
    });
    await expect(fetchFrom(circle, '/a')).rejects.toThrow(/redirects in a circle/);
    expect(circle.asked).toEqual(['/a', '/b']);
    const chain = await openSite((request, response) => {
      response.writeHead(302, { Location: `${request.url}x` }).end();
    });
    await expect(fetchFrom(chain, '/')).rejects.toThrow(/redirects more than 5 times/);
    expect(chain.asked).toHaveLength(6);
  });

  it('fetch follows a redirect with raw UTF-8, and treats a redirect without location as a response', async () => {
    const site = await openSite((request, response) => {
      if (request.url === '/')
        response.writeHead(302, { Location: Buffer.from('/ü').toString('latin1') }).end();
      else response.writeHead(200, { 'Content-Type': 'text/plain' }).end(request.url);
    });
    expect((await fetchFrom(site, '/')).text).toMatch(/\n\/%C3%BC$/);
    const nowhere = await openSite((_request, response) => void response.writeHead(302).end());
    await expect(fetchFrom(nowhere, '/')).rejects.toThrow(/answered 302 Found/);
  });
});

describe('fetch and hostile servers', () => {
  it('X3 fetch reads a limited part of an endless body, and closes the connection', async () => {
    const site = await openSite((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      endless(response, 'x'.repeat(65_536));
    });
    const { text } = await fetchFrom(site, '/');
    expect(text).toMatch(
      /x\n\[… \d+ characters left out …\]\n\[the page is longer; this tool reads at most 2 MiB\]$/,
    );
  });

  it('X3 fetch limits a body after decompression with gzip or brotli', async () => {
    const zeros = Buffer.alloc(64 * 1024 * 1024, 'a');
    for (const [encoding, packed] of [
      ['gzip', gzipSync(zeros)],
      ['br', brotliCompressSync(zeros)],
    ] as const) {
      const site = await always({ 'Content-Type': 'text/plain', 'Content-Encoding': encoding }, packed);
      const { text, summary } = await fetchFrom(site, '/');
      expect(text).toMatch(/at most 2 MiB/);
      expect(summary).toMatch(/2097152 characters$/);
    }
  });

  it('X3 fetch refuses an encoding that it did not accept, and reports a body with a wrong encoding', async () => {
    const twice = await always({ 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip, gzip' }, 'x');
    await expect(fetchFrom(twice, '/')).rejects.toThrow(/did not accept \(gzip, gzip\)/);
    const lie = await always({ 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' }, 'plain');
    await expect(fetchFrom(lie, '/')).rejects.toThrow(/not in the compression that its header names/);
    const half = await always(
      { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' },
      gzipSync('text').subarray(0, 15),
    );
    await expect(fetchFrom(half, '/')).rejects.toThrow(/not in the compression that its header names/);
  });

  it('X3 fetch stops at endless headers, at a response that is not HTTP, and at a broken connection', async () => {
    const huge = await always({ 'X-Much': 'x'.repeat(40_000) }, 'x');
    await expect(fetchFrom(huge, '/')).rejects.toThrow(/more than 32 KiB of headers/);
    const rubbish = await openSite((request) => void request.socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    await expect(fetchFrom(rubbish, '/')).rejects.toThrow(/not HTTP/);
    const short = await openSite((request, response) => {
      response
        .writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': '100' })
        .write('ten', () => request.socket.destroy());
    });
    await expect(fetchFrom(short, '/')).rejects.toThrow(/closed the connection early/);
    const other = await openSite((request) => {
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    });
    await expect(fetchFrom(other, '/')).rejects.toThrow(/another protocol/);
  });

  it('X3 fetch waits at most 30 s for a slow or silent server', async () => {
    for (const begin of [true, false]) {
      const clock = new FakeClock();
      const reached = new EventEmitter();
      const arrival = once(reached, 'reached');
      const site = await openSite((_request, response) => {
        if (begin) response.writeHead(200, { 'Content-Type': 'text/plain' }).write('drip');
        reached.emit('reached');
      });
      const { signal } = new AbortController();
      const failing = expect(
        at.run(
          createFetchTool(webContextFor([site.host], { clock })),
          { url: `${site.origin}/` },
          { signal },
        ),
      ).rejects.toThrow('The server sent no complete response within 30 s.');
      await arrival;
      clock.advance(29_999);
      expect(clock.pending).toBe(1);
      clock.advance(1);
      await failing;
      expect(clock.pending).toBe(0);
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    }
  });

  it('X3 fetch refuses a page whose elements are nested too deep', async () => {
    const site = await openPages({ '/': html('<div>'.repeat(300_000)) });
    await expect(fetchFrom(site, '/')).rejects.toThrow(/nests its elements/);
  });

  it('the result of fetch explains why there is no connection', async () => {
    const site = await openPages({});
    const unknown = createFetchTool(
      webContextFor([], {
        resolve: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
      }),
    );
    await expect(at.run(unknown, { url: 'http://nowhere.test/' })).rejects.toThrow(
      'There is no host nowhere.test',
    );
    await expect(
      at.run(createFetchTool(webContextFor([site.host])), { url: `https://${site.host}/` }),
    ).rejects.toThrow(/TLS connection .* failed/);
    const empty = createFetchTool(webContextFor([], { resolve: () => Promise.resolve([]) }));
    await expect(at.run(empty, { url: 'http://nowhere.test/' })).rejects.toThrow(/has no address/);
  });
});

const meta = (charset: string, text: Buffer) =>
  Buffer.concat([Buffer.from(`<meta charset="${charset}"><p>`), text]);

describe('text encodings in fetch', () => {
  const latin = Buffer.from([0x67, 0x72, 0xfc, 0xdf]); // The bytes of "grüß" in Latin-1
  const utf8 = Buffer.from('grüß');

  it.each<[string, string, Buffer]>([
    ['declared in the header', 'text/html; charset=ISO-8859-1', latin],
    ['declared in the header, which wins', 'text/html; charset="utf-8"', meta('latin1', utf8)],
    ['declared in the page', 'text/html', meta('windows-1252', latin)],
    [
      'declared in the page in the old form',
      'text/html',
      Buffer.concat([
        Buffer.from('<meta http-equiv=Content-Type content="text/html; charset=latin1">'),
        latin,
      ]),
    ],
    ['not declared, and UTF-8', 'text/html', utf8],
    ['not declared, and not UTF-8', 'text/html', latin],
    ['unknown', 'text/html; charset=x-klingon', utf8],
    ['that cannot be', 'text/html', meta('utf-16', utf8)],
    [
      'in a byte order mark',
      'text/plain; charset=latin1',
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('grüß', 'utf16le')]),
    ],
    [
      'in an XML declaration',
      'application/xml',
      Buffer.concat([Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?>'), latin]),
    ],
  ])('fetch reads an encoding %s', async (_case, type, body) => {
    const site = await always({ 'Content-Type': type }, body);
    expect((await fetchFrom(site, '/')).text).toMatch(/grüß$/);
  });

  it('X3 fetch returns no NUL and no other control character', async () => {
    const site = await always({ 'Content-Type': 'text/plain' }, 'a\0b\u001b[31mc\td\n');
    expect((await fetchFrom(site, '/')).text).toMatch(/a\ufffdb\ufffd\[31mc\td\n$/);
    const page = await always({ 'Content-Type': 'text/html' }, '<title>a\0</title><p>x&#0;y&#27;z');
    expect((await fetchFrom(page, '/')).text).not.toMatch(/[^\P{Cc}\n]/u);
  });
});

describe('an abort of fetch', () => {
  it.each(['before the answer', 'in the middle of the body'])(
    'A2 fetch stops at once %s, and closes the connection',
    async (when) => {
      const controller = new AbortController();
      const hungUp = new EventEmitter();
      const closed = once(hungUp, 'close');
      const site = await openSite((request, response) => {
        request.socket.once('close', () => hungUp.emit('close'));
        if (when === 'before the answer') return controller.abort();
        response.writeHead(200, { 'Content-Type': 'text/plain' });
        response.write('x'.repeat(1000), () => controller.abort());
      });
      const { signal } = controller;
      const running = at.run(
        createFetchTool(webContextFor([site.host])),
        { url: `${site.origin}/` },
        { signal },
      );
      await expect(running).rejects.toMatchObject({ name: 'AbortError' });
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
      await closed;
    },
  );

  it('A2 fetch does not wait for a DNS lookup, and starts nothing after an abort', async () => {
    const controller = new AbortController();
    const resolve = () => {
      controller.abort();
      return new Promise<never>(() => undefined);
    };
    const fetch = createFetchTool(webContextFor([], { resolve }));
    const { signal } = controller;
    const url = 'http://slow.test/';
    await expect(at.run(fetch, { url }, { signal })).rejects.toMatchObject({ name: 'AbortError' });
    await expect(at.run(fetch, { url }, { signal })).rejects.toMatchObject({ name: 'AbortError' });
  });
});
