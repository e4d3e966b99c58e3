import { describe, expect, it } from '@jest/globals';
import { parseHtmlPage } from '../../../../../a2a-server/tools/web/parse-html-page.ts';

const { signal } = new AbortController();
const url = new URL('http://site.test/dir/page');
const read = (html: string, maxCharacters = 100_000) => parseHtmlPage(html, url, { maxCharacters, signal });

describe('the readable text of a page', () => {
  it.each<[string, string, string]>([
    ['paragraphs', '<p>One\n two</p><p>three', 'One two\n\nthree'],
    ['headings', '<h1>A <b>b</b></h1>text<h3>C</h3>', '# A b\n\ntext\n\n### C'],
    ['an empty heading', '<h2></h2>text', 'text'],
    ['inline elements', 'a<b>b</b> <i> c </i>d', 'ab c d'],
    ['line ends', 'a<br>b<br><br>c<hr>d', 'a\nb\n\nc\n\n---\n\nd'],
    ['lists', '<ul><li>a<li>b<ol><li>x<li>y</ol></ul>end', '- a\n- b\n  1. x\n  2. y\nend'],
    ['tables', '<table><tr><th>K<th>V<tr><td>a<td>b c</table>', 'K | V\na | b c'],
    ['definitions', '<dl><dt>a<dd>b</dl>', 'a\nb'],
    ['code', '<p>x</p><pre><code>if a:\n\tb  \n\n  c</code></pre>y', 'x\n\nif a:\n\tb\n\n  c\n\ny'],
    ['entities', '&lt;b&gt; &amp;amp; &#x1F389; a&nbsp;b', '<b> &amp; 🎉 a b'],
    [
      'links',
      '<a href="../x#y">to <b>x</b></a>, <a href="">here</a>',
      'to x (http://site.test/x), here (http://site.test/dir/page)',
    ],
    ['a link that is its own text', '<a href="http://a.test/"> http://a.test/ </a>', 'http://a.test/'],
    [
      'a link without text or place',
      'a<a href="/x"><img alt="y"></a> <a href="mailto:m">mail</a> <a>b</a>',
      'a mail b',
    ],
    ['links below a base', '<base href="//other.test/b/"><a href="c">d</a>', 'd (http://other.test/b/c)'],
    [
      'what is not for reading',
      '<script>a</script><style>b</style><nav>c</nav><p hidden>d</p><svg><title>e</title></svg>f',
      'f',
    ],
    ['what is hidden from some', '<div aria-hidden="true">a<p>b</div><div role="navigation">c</div>d', 'd'],
    ['its main part alone', '<p>a</p><main><p>b</p><article>c</article></main><p>d</p>', 'b\n\nc'],
    ['all its articles', '<p>a</p><article>b</article><article>c</article>', 'b\n\nc'],
    ['a main part that is empty', '<main></main><p>a', 'a'],
    ['rubbish', '</p></div><<p>a</b></a><li>b</table>', '<\n\na\n- b'],
    ['nothing', '', ''],
  ])('the readable text contains %s', async (_what, html, text) => {
    expect((await read(html)).text).toBe(text);
  });

  it('the page’s title is its own and not that of an image, and its canonical URL is read', async () => {
    const html = `<link rel="x CANONICAL" href="/proper"><title>\n The\n title </title><svg><title>no</title></svg>`;
    expect(await read(html)).toEqual({
      title: 'The title',
      text: '',
      links: [],
      canonical: new URL('http://site.test/proper'),
      cut: false,
    });
  });

  it('the page’s links have their text, also links in its navigation', async () => {
    const html = `<nav><a href="/a" title="t">one\n two</a></nav><map><area href="b" alt="B"></map>
      <a href="javascript:x">no</a><a href="c" rel="nofollow">no</a><a href="d">d<a href="e">e`;
    expect((await read(html)).links.map((link) => [link.url.pathname, link.text])).toEqual([
      ['/a', 'one two'],
      ['/dir/b', 'B'],
      ['/dir/d', 'd'],
      ['/dir/e', 'e'],
    ]);
  });

  it('X3 the text of a page with many links is limited', async () => {
    const html = `<base href="http://site.test/${'y'.repeat(2000)}/">${'<a href="x">z</a> '.repeat(10_000)}`;
    const page = await read(html, 50_000);
    expect(page.cut).toBe(true);
    expect(page.text.length).toBeLessThan(55_000);
    expect(page.links.length).toBeLessThanOrEqual(1000);
  });

  it('A2 a page is read in pieces, and the read stops after an abort', async () => {
    const controller = new AbortController();
    const html = '<p>word</p>'.repeat(50_000);
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      if (turns === 5) controller.abort();
      else setImmediate(turn);
    };
    setImmediate(turn);
    const reading = parseHtmlPage(html, url, { maxCharacters: 1e6, signal: controller.signal });
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    expect(turns).toBe(5);
  });
});
