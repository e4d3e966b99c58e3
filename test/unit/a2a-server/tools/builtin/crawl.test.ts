/** Tests crawl on real sockets. */
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { NO_RESOLVED_TARGETS } from '../../../../../a2a-server/policy/call-facts.ts';
import { decideVerdict } from '../../../../../a2a-server/policy/verdict.ts';
import { createCrawlTool } from '../../../../../a2a-server/tools/builtin/crawl.ts';
import { ToolStoppedError } from '../../../../../a2a-server/tools/tool.ts';
import type { FetchDependencies } from '../../../../../a2a-server/tools/web/fetch-url.ts';
import { toolInWorkspace, type ToolInWorkspace } from '../tool-in-workspace.ts';
import { HurriedClock } from '../../../../support/hurried-clock.ts';
import { endless, openPages, openSite, webContextFor, type Site } from '../../../../support/web-site.ts';

let at: ToolInWorkspace;
let clock: HurriedClock;

beforeEach(async () => {
  at = await toolInWorkspace();
  clock = new HurriedClock([15_000, 20_000]);
});

/** Returns a page with links to other pages. */
const page = (title: string, text: string, ...links: string[]) =>
  `<!doctype html><title>${title}</title><h1>${title}</h1><p>${text}</p><nav>${links.map((to) => `<a href="${to}">${to}</a>`).join('')}</nav>`;

function crawl(site: Site, input: Record<string, unknown>, web: Partial<FetchDependencies> = {}, run = {}) {
  const tool = createCrawlTool(webContextFor([site.host], { clock, ...web }));
  return at.run(tool, { url: `${site.origin}/`, query: 'abort', ...input }, run);
}

const numbered = (n: number) => Array.from({ length: n }, (_, i) => `/p${i}`);

describe('the tool crawl', () => {
  it('crawl reads pages of the site and returns the matching passages with their URLs, best pages first', async () => {
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
      `page 1 of 10: ${site.origin}/\n`,
      `page 2 of 10: ${site.origin}/tools\n`,
      `page 3 of 10: ${site.origin}/about\n`,
    ]);
    expect(site.asked).toEqual(['/robots.txt', '/', '/tools', '/about']);
    expect(clock.pending).toBe(0);
  });

  it('crawl shows the beginning of each page if no page contains the query words', async () => {
    const site = await openPages({ '/': page('Start', 'Welcome to the house.') });
    const { text } = await crawl(site, { query: 'Extract content' });
    expect(text).toMatch(
      /0 with matching passages\.\n\n=== Start\n.*\n\n# Start\n\nWelcome to the house\.$/s,
    );
  });

  it('crawl follows links that match the query first, and all other links breadth first', async () => {
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

  it('crawl reads at most maxPages pages, and counts and reports failures', async () => {
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

  it('X2 D5 crawl needs an approval, shows its first URL, its query and its limit, and can run again after a lost outcome', async () => {
    const tool = createCrawlTool(webContextFor([]));
    const input = { url: 'https://example.com/x', query: 'a\nb', maxPages: 3 };
    expect(await at.show(tool, input)).toEqual({
      preview: { type: 'json', value: { url: 'https://example.com/x', query: 'a\nb', maxPages: 3 } },
      basis: null,
    });
    expect(tool.title(input)).toBe('Crawl https://example.com/x for "a↵b", at most 3 pages');
    expect(tool.repeatable).toBe(true);
    expect(
      decideVerdict({ ...tool, tool: 'crawl', reach: NO_RESOLVED_TARGETS }, { settings: {}, grants: [] }),
    ).toEqual({
      type: 'ask',
    });
    for (const url of ['http://10.0.0.1/', 'http://localhost/'])
      await expect(at.show(tool, { ...input, url })).rejects.toMatchObject({ reason: 'FORBIDDEN' });
    await expect(at.show(tool, { ...input, url: 'ftp://example.com/' })).rejects.toMatchObject({
      reason: 'MALFORMED',
    });
  });
});

describe('the limits of crawl', () => {
  it('X2 crawl stays on its origin despite links and redirects, and follows no link with credentials', async () => {
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
    const { text } = await crawl(site, {}, { allowed: webContextFor([site.host, other.host]).allowed });
    expect(other.asked).toEqual([]);
    expect(text).toMatch(/\/away: redirects to another site/);
    expect(text).toMatch(/\/private: 169\.254\.169\.254 is link-local/);
    expect(site.asked).toEqual(['/robots.txt', '/', '/away', '/private']);
  });

  it('X2 crawl follows a redirect of the first page to another site, checks that site, and obeys its robots.txt', async () => {
    const proper = await openPages({
      '/home': page('Home', 'abort', '/no'),
      '/robots.txt': (_request, response) =>
        void response.writeHead(200, { 'Content-Type': 'text/plain' }).end('User-agent: *\nDisallow: /no'),
    });
    const site = await openSite((request, response) => {
      if (request.url === '/robots.txt') response.writeHead(404).end();
      else response.writeHead(301, { Location: `${proper.origin}/home` }).end();
    });
    const { text } = await crawl(site, {}, { allowed: webContextFor([site.host, proper.host]).allowed });
    expect(proper.asked).toEqual(['/robots.txt', '/home']);
    expect(text).toContain(`=== Home\n${proper.origin}/home`);
    expect(text).not.toContain('Not read');
    await expect(crawl(site, {})).rejects.toThrow(/Nothing could be read.*this machine/);
    expect(proper.asked).toHaveLength(2);
  });

  it.each(['/', '/robots.txt'])(
    'X2 crawl sends no request to a denied host that %s redirects to, not even for robots.txt',
    async (redirecting) => {
      const denied = await openPages({ '/home': page('Home', 'abort') });
      const site = await openSite((request, response) => {
        if (request.url === redirecting) response.writeHead(301, { Location: `${denied.origin}/home` }).end();
        else response.writeHead(404).end();
      });
      const hosts: string[] = [];
      const goesTo = (named: readonly string[]): void => {
        hosts.push(...named);
        throw new ProductError('FORBIDDEN', 'The operator of this server forbids this call.');
      };
      await expect(
        crawl(site, {}, { allowed: webContextFor([site.host, denied.host]).allowed }, { goesTo }),
      ).rejects.toThrow(/operator of this server forbids/);
      expect(hosts).toEqual([new URL(denied.origin).hostname]);
      expect(denied.asked).toEqual([]);
    },
  );

  it('crawl reads no page that robots.txt forbids, even after a redirect, and reports that', async () => {
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
    expect(text).toContain('Skipped because robots.txt forbids it: 1 page.');
    expect(text).toMatch(/\/hop: redirects to a page that robots\.txt forbids/);
    await expect(crawl(site, { url: `${site.origin}/private/a` })).rejects.toThrow(/forbids robots to read/);
  });

  it('crawl reads no page if it cannot read robots.txt', async () => {
    for (const fails of [
      (response: ServerResponse) => void response.writeHead(500).end(),
      (response: ServerResponse) => void response.destroy(),
    ]) {
      const site = await openPages({
        '/': page('S', 'abort'),
        '/robots.txt': (_request, response) => fails(response),
      });
      await expect(crawl(site, {})).rejects.toThrow(/cannot read its robots\.txt/);
      expect(site.asked).toEqual(['/robots.txt']);
    }
  });

  it('crawl does not follow nofollow links', async () => {
    const site = await openPages({
      '/': page('S', 'abort', '/a') + '<a rel="ugc nofollow" href="/paid">x</a>',
      '/a': `<meta name="ROBOTS" content="noindex, nofollow">${page('A', 'abort', '/b')}`,
    });
    await crawl(site, {});
    expect(site.asked).toEqual(['/robots.txt', '/', '/a']);
  });
});

describe('the pauses of crawl', () => {
  it('crawl waits one second between two pages, or the delay in robots.txt', async () => {
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
    expect(shown).toContain('waiting 8 s before the next request to the site\n');
  });

  it('X3 crawl ends early if a site sets a long delay or requests a pause, and returns its results', async () => {
    const patient = await openPages({
      '/robots.txt': (_request, response) =>
        void response.writeHead(200).end('User-agent: *\nCrawl-delay: 1e300'),
      '/': page('S', 'abort', '/a'),
    });
    expect((await crawl(patient, {})).text).toMatch(
      /The crawl ended early because of its time limit.*=== S/s,
    );
    expect(patient.asked).toEqual(['/robots.txt', '/']);
    const busy = await openPages({
      '/': page('S', 'abort', '/a', '/b'),
      '/a': (_request, response) => void response.writeHead(429).end(),
    });
    expect((await crawl(busy, {})).text).toMatch(/asked for a pause \(429 Too Many Requests\).*=== S/s);
    expect(busy.asked).toEqual(['/robots.txt', '/', '/a']);
  });

  it('X3 crawl waits 20 s for a page, then reads the next one', async () => {
    const site = await openPages({
      '/': page('S', 'abort', '/slow', '/c'),
      '/slow': (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html' }).write('<p>', () => clock.strike());
      },
      '/c': page('C', 'abort me'),
    });
    const { text } = await crawl(site, {});
    expect(text).toMatch(/=== C/);
    expect(text).toMatch(/\/slow: The server sent no complete response within 20 s\./);
  });
});

describe('crawl on sites without an end', () => {
  it('X3 crawl ends on an endless site: calendars, session ids, deeper and deeper paths', async () => {
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

  it('crawl reads a page once despite another fragment, query order, redirect, canonical URL or a copy of the text', async () => {
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

  it('X3 crawl continues after endless pages, a million links, and robots.txt rules that are slow to match', async () => {
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

describe('an abort of crawl', () => {
  it('R42 A2 crawl returns its results so far and closes the connection in the middle of a page', async () => {
    const controller = new AbortController();
    const site = await openPages({
      '/': page('S', 'how to abort', '/slow'),
      '/slow': (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html' }).write('<p>', () => controller.abort());
      },
    });
    const { signal } = controller;
    const error = await crawl(site, {}, {}, { signal }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolStoppedError);
    expect(error).toMatchObject({
      confirmed: true,
      text: expect.stringMatching(/read 1 page, .*how to abort/s),
    });
    expect(clock.pending).toBe(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it.each(['before it starts', 'while it reads robots.txt', 'while it waits for its turn'])(
    'A2 crawl stops at once %s',
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
      expect(error).toMatchObject({ name: expect.stringMatching(/^(ToolStoppedError|AbortError)$/) });
      expect(site.asked).not.toContain('/a');
      expect(clock.pending).toBe(0);
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    },
  );
});
