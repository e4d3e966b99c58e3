/** crawl, on real sockets. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { NO_REACH } from '../../../../a2a-server/policy/judged-call.ts';
import { verdict } from '../../../../a2a-server/policy/verdict.ts';
import { createCrawl } from '../../../../a2a-server/tools/crawl.ts';
import { ToolStopped } from '../../../../a2a-server/tools/tool.ts';
import type { Web } from '../../../../a2a-server/tools/web/get.ts';
import { toolInWorkspace, type ToolInWorkspace } from './tool-in-workspace.ts';
import { HurriedClock } from '../../../support/hurried-clock.ts';
import { endless, openPages, openSite, webOf, type Site } from '../../../support/web-site.ts';

let at: ToolInWorkspace;
let clock: HurriedClock;

beforeEach(async () => {
  at = await toolInWorkspace();
  clock = new HurriedClock([15_000, 20_000]);
});

/** A page with links to others. */
const page = (title: string, text: string, ...links: string[]) =>
  `<!doctype html><title>${title}</title><h1>${title}</h1><p>${text}</p><nav>${links.map((to) => `<a href="${to}">${to}</a>`).join('')}</nav>`;

function crawl(site: Site, input: Record<string, unknown>, web: Partial<Web> = {}, run = {}) {
  const tool = createCrawl(webOf([site.host], { clock, ...web }));
  return at.run(tool, { url: `${site.origin}/`, query: 'abort', ...input }, run);
}

const numbered = (n: number) => Array.from({ length: n }, (_, i) => `/p${i}`);

describe('crawl', () => {
  it('reads pages of the site and gives back the passages that match, best pages first, with where they are', async () => {
    const site = await openPages({
      '/': page('Start', 'Welcome.', '/tools', '/about', 'https://elsewhere.example/abort'),
      '/about': page('About', 'We abort little.'),
      '/tools': `<title>Tools</title><h2>Stopping</h2><p>To abort a running tool, send its id.</p><p>Unrelated.</p>
        <h3>Grace</h3><p>An aborted tool has five seconds.</p>`,
    });
    const shown: string[] = [];
    const { text, summary } = await crawl(
      site,
      { query: 'abort tool' },
      {},
      { output: (line: string) => void shown.push(line) },
    );
    expect(text).toBe(
      `Crawled ${site.origin}/ for "abort tool": read 3 pages, 2 with matching passages.

=== Tools
${site.origin}/tools

## Stopping
To abort a running tool, send its id.

### Grace
An aborted tool has five seconds.

=== About
${site.origin}/about

# About
We abort little.

Read without a match:
- Start: ${site.origin}/`,
    );
    expect(summary).toBe(`crawled ${site.origin}/: read 3 pages, 2 with matching passages`);
    expect(shown).toEqual([
      `page 1 of at most 10: ${site.origin}/\n`,
      `page 2 of at most 10: ${site.origin}/tools\n`,
      `page 3 of at most 10: ${site.origin}/about\n`,
    ]);
    expect(site.asked).toEqual(['/robots.txt', '/', '/tools', '/about']);
    expect(clock.pending).toBe(0);
  });

  it('lets the pages speak for themselves where the query is no words to look for', async () => {
    const site = await openPages({ '/': page('Start', 'Welcome to the house.') });
    const { text } = await crawl(site, { query: 'Extract content' });
    expect(text).toMatch(
      /0 with matching passages\.\n\n=== Start\n.*\n\n# Start\n\nWelcome to the house\.$/s,
    );
  });

  it('follows links that match the query first, and otherwise goes breadth first', async () => {
    const site = await openPages({
      '/': page('Start', '-', '/a', '/b', '/docs/abort'),
      '/a': page('A', '-', '/a/deep'),
      '/b': page('B', '-', '/b/how-to-abort'),
      '/docs/abort': page('D', '-', '/docs/more', '/docs/abort-one'),
    });
    await crawl(site, {});
    expect(site.asked.slice(1)).toEqual([
      '/',
      '/docs/abort',
      '/docs/abort-one',
      '/a',
      '/b',
      '/b/how-to-abort',
      '/docs/more',
      '/a/deep',
    ]);
  });

  it('reads maxPages at most, failures counted, and tells what failed', async () => {
    const site = await openPages({
      '/': page('Start', 'abort', ...numbered(20)),
      '/p0': page('P', 'abort it'),
      '/p2': (_request, response) =>
        void response.writeHead(200, { 'Content-Type': 'application/x-thing' }).end('x'),
      '/p3': (_request, response) => void response.writeHead(500).end(),
    });
    const { text } = await crawl(site, { maxPages: 5 });
    expect(site.asked).toEqual(['/robots.txt', '/', '/p0', '/p1', '/p2', '/p3']);
    expect(text).toContain(
      `Not read (3):\n- ${site.origin}/p1: 404 Not Found\n- ${site.origin}/p2: no text (application/x-thing)\n- ${site.origin}/p3: 500 Internal Server Error`,
    );
  });

  it('X2 asks first, shows where it begins, and may run again when its outcome is lost', async () => {
    const tool = createCrawl(webOf([]));
    const input = { url: 'https://example.com/x', query: 'a\nb', maxPages: 3 };
    expect(await at.show(tool, input)).toEqual({
      preview: { type: 'url', url: 'https://example.com/x' },
      basis: null,
    });
    expect(tool.title(input)).toBe('Crawl https://example.com/x for "a⏎b", at most 3 pages');
    expect(tool.repeatable).toBe(true);
    expect(verdict({ ...tool, tool: 'crawl', reach: NO_REACH }, { settings: {}, grants: [] })).toEqual({
      type: 'ask',
    });
    for (const url of ['http://10.0.0.1/', 'http://localhost/', 'ftp://example.com/'])
      await expect(at.show(tool, { ...input, url })).rejects.toMatchObject({ reason: 'FORBIDDEN' });
  });
});

describe('crawl, of what it must not do', () => {
  it('X2 leaves its origin by no link, no redirect and no credentials', async () => {
    const other = await openPages({ '/': page('Secret', 'abort') });
    const site = await openPages({
      '/': ({ headers: { host } }, response) => {
        const links = [`${other.origin}/`, '/away', 'file:///etc/passwd', '/private', `http://u:p@${host}/x`];
        response.writeHead(200, { 'Content-Type': 'text/html' }).end(page('Start', 'abort', ...links));
      },
      '/away': (_request, response) => void response.writeHead(302, { Location: `${other.origin}/` }).end(),
      '/private': (_request, response) =>
        void response.writeHead(302, { Location: 'http://169.254.169.254/' }).end(),
    });
    const { text } = await crawl(site, {}, { allowed: webOf([site.host, other.host]).allowed });
    expect(other.asked).toEqual([]);
    expect(text).toMatch(/\/away: leads to another site/);
    expect(text).toMatch(/\/private: 169\.254\.169\.254 is link-local/);
    expect(site.asked).toEqual(['/robots.txt', '/', '/away', '/private']);
  });

  it('follows a start to the site it leads to, whose robots.txt then counts, and X2 judges that too', async () => {
    const proper = await openPages({
      '/home': page('Home', 'abort', '/no'),
      '/robots.txt': (_request, response) =>
        void response.writeHead(200, { 'Content-Type': 'text/plain' }).end('User-agent: *\nDisallow: /no'),
    });
    const site = await openSite((request, response) => {
      if (request.url === '/robots.txt') response.writeHead(404).end();
      else response.writeHead(301, { Location: `${proper.origin}/home` }).end();
    });
    const { text } = await crawl(site, {}, { allowed: webOf([site.host, proper.host]).allowed });
    expect(proper.asked).toEqual(['/robots.txt', '/home']);
    expect(text).toContain(`=== Home\n${proper.origin}/home`);
    expect(text).not.toContain('Not read');
    await expect(crawl(site, {})).rejects.toThrow(/Nothing could be read.*this machine/);
    expect(proper.asked).toHaveLength(2);
  });

  it('reads nothing that robots.txt forbids, not even by a redirect, and says so', async () => {
    const site = await openPages({
      '/robots.txt': (_request, response) =>
        void response
          .writeHead(200, { 'Content-Type': 'text/plain' })
          .end(
            'User-agent: *\nDisallow: /\n\nUser-agent: mcp-a2a-bridge\nDisallow: /private\nAllow: /private/open\n',
          ),
      '/': page('Start', 'abort', '/private/a', '/private/open', '/hop'),
      '/private/a': page('Private', 'abort'),
      '/private/open': page('Open', 'abort'),
      '/hop': (_request, response) => void response.writeHead(302, { Location: '/private/b' }).end(),
    });
    const { text } = await crawl(site, {});
    expect(site.asked).toEqual(['/robots.txt', '/', '/private/open', '/hop']);
    expect(text).toContain('Left out because robots.txt says so: 1 page.');
    expect(text).toMatch(/\/hop: leads to where robots\.txt does not let robots go/);
    await expect(crawl(site, { url: `${site.origin}/private/a` })).rejects.toThrow(
      /does not let robots read/,
    );
  });

  it('crawls nothing while robots.txt cannot be read', async () => {
    for (const fails of [
      (response: ServerResponse) => void response.writeHead(500).end(),
      (response: ServerResponse) => void response.destroy(),
    ]) {
      const site = await openPages({
        '/': page('S', 'abort'),
        '/robots.txt': (_request, response) => fails(response),
      });
      await expect(crawl(site, {})).rejects.toThrow(/may be crawled while its robots\.txt cannot be read/);
      expect(site.asked).toEqual(['/robots.txt']);
    }
  });

  it('follows no link that a page asks robots not to follow', async () => {
    const site = await openPages({
      '/': page('S', 'abort', '/a') + '<a rel="ugc nofollow" href="/paid">x</a>',
      '/a': `<meta name="ROBOTS" content="noindex, nofollow">${page('A', 'abort', '/b')}`,
    });
    await crawl(site, {});
    expect(site.asked).toEqual(['/robots.txt', '/', '/a']);
  });
});

describe('crawl, in time', () => {
  it('leaves a second between two pages, or as much as robots.txt asks for', async () => {
    const pages = { '/': page('S', 'abort', '/a', '/b'), '/a': page('A', '1'), '/b': page('B', '2') };
    await crawl(await openPages(pages), {});
    expect(clock.waits).toEqual([1000, 1000]);
    const slow = await openPages({
      ...pages,
      '/robots.txt': (_request, response) =>
        void response.writeHead(200).end('User-agent: *\nCrawl-delay: 7.5'),
    });
    const shown: string[] = [];
    await crawl(slow, {}, {}, { output: (text: string) => void shown.push(text) });
    expect(clock.waits.slice(2)).toEqual([7500, 7500]);
    expect(shown).toContain('waiting 8 s, as the site asks\n');
  });

  it('X3 ends early where a site wants it too slow, or asks for a pause, and keeps what it has', async () => {
    const patient = await openPages({
      '/robots.txt': (_request, response) =>
        void response.writeHead(200).end('User-agent: *\nCrawl-delay: 1e300'),
      '/': page('S', 'abort', '/a'),
    });
    expect((await crawl(patient, {})).text).toMatch(/It ended early, for want of time.*=== S/s);
    expect(patient.asked).toEqual(['/robots.txt', '/']);
    const busy = await openPages({
      '/': page('S', 'abort', '/a', '/b'),
      '/a': (_request, response) => void response.writeHead(429).end(),
    });
    expect((await crawl(busy, {})).text).toMatch(/asked for a pause \(429 Too Many Requests\).*=== S/s);
    expect(busy.asked).toEqual(['/robots.txt', '/', '/a']);
  });

  it('X3 gives each page 20 s, and goes on with the next', async () => {
    const site = await openPages({
      '/': page('S', 'abort', '/slow', '/c'),
      '/slow': (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html' }).write('<p>', () => clock.strike());
      },
      '/c': page('C', 'abort me'),
    });
    const { text } = await crawl(site, {});
    expect(text).toMatch(/=== C/);
    expect(text).toMatch(/\/slow: There was no whole answer within 20 s\./);
  });
});

describe('crawl, of traps', () => {
  it('X3 comes to an end on a site that has none: calendars, session ids, ever deeper paths', async () => {
    let n = 0;
    const site = await openSite((request, response) => {
      n += 1;
      response.writeHead(request.url === '/robots.txt' ? 404 : 200, { 'Content-Type': 'text/html' });
      response.end(
        page(
          `T${n}`,
          `text ${n}`,
          `/cal?day=${n}`,
          `/cal?day=${n}&utm_source=x`,
          `x/x/`,
          `/s;jsessionid=${n}`,
          `/t?sid=${n}`,
        ) +
          `<a href="${'/y'.repeat(600)}">long</a><a href="?${Array.from({ length: 20 }, (_, i) => `a${i}=1`).join('&')}">f</a>`,
      );
    });
    await crawl(site, { maxPages: 100 });
    const paths = site.asked.map((path) => path.replace(/\?.*/u, ''));
    expect(paths.filter((path) => path === '/cal')).toHaveLength(5);
    expect(site.asked.filter((path) => path.startsWith('/s;') || path === '/s')).toEqual(['/s']);
    expect(site.asked.filter((path) => path.startsWith('/t'))).toEqual(['/t']);
    expect(site.asked.some((path) => path.includes('utm_'))).toBe(false);
    expect(site.asked.length).toBeLessThan(30);
  });

  it('reads one page once: by fragment, order of its query, redirect, canonical name, or the same text', async () => {
    const site = await openPages({
      '/': page(
        'S',
        'abort',
        '/a#x',
        '/a#y',
        '/q?a=1&b=2',
        '/q?b=2&a=1',
        '/old',
        '/named',
        '/copy',
        '/file.PDF',
      ),
      '/a': page('A', 'abort a'),
      '/q?a=1&b=2': page('Q', 'abort q'),
      '/old': (_request, response) => void response.writeHead(301, { Location: '/new' }).end(),
      '/new': page('N', 'abort n', '/new'),
      '/named': `<link rel="canonical" href="/proper">${page('P', 'abort p', '/proper')}`,
      '/copy': page('A', 'abort a', '/only-from-copy'),
    });
    const { summary } = await crawl(site, {});
    expect(site.asked).toEqual(['/robots.txt', '/', '/a', '/q?a=1&b=2', '/old', '/new', '/named', '/copy']);
    expect(summary).toMatch(/read 5 pages/);
  });

  it('X3 takes no harm from pages without end, a million links, or rules that cost much to match', async () => {
    const site = await openPages({
      '/robots.txt': (_request, response) =>
        void response.writeHead(200).end(`User-agent: *\n${`Disallow: /${'*a'.repeat(400)}b\n`.repeat(400)}`),
      '/': (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html' });
        endless(
          response,
          '<p>abort <a href="/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa">link</a> '.repeat(500),
        );
      },
    });
    const { text } = await crawl(site, { maxPages: 2 });
    expect(text).toMatch(/=== \//);
    expect(text.length).toBeLessThan(50_000);
  }, 20_000);
});

describe('crawl, aborted', () => {
  it('R42 A2 keeps what was found, in the middle of a page, and hangs up', async () => {
    const controller = new AbortController();
    const site = await openPages({
      '/': page('S', 'how to abort', '/slow'),
      '/slow': (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html' }).write('<p>', () => controller.abort());
      },
    });
    const { signal } = controller;
    const error = await crawl(site, {}, {}, { signal }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolStopped);
    expect(error).toMatchObject({
      confirmed: true,
      text: expect.stringMatching(/read 1 page, .*how to abort/s),
    });
    expect(clock.pending).toBe(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it.each(['before it starts', 'while it reads robots.txt', 'while it waits for its turn'])(
    'A2 ends at once %s',
    async (when) => {
      const controller = new AbortController();
      const site = await openPages({
        '/robots.txt': (_request, response) => {
          if (when === 'while it reads robots.txt') controller.abort();
          else response.writeHead(404).end();
        },
        '/': page('S', 'abort', '/a'),
      });
      if (when === 'before it starts') controller.abort();
      const { signal } = controller;
      clock.onWait = () => controller.abort();
      const error = await crawl(site, {}, {}, { signal }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: expect.stringMatching(/^(ToolStopped|AbortError)$/) });
      expect(site.asked).not.toContain('/a');
      expect(clock.pending).toBe(0);
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    },
  );
});
