/** What the web tools load at their first call. One module, because each module loaded on demand splits the built program. */
export { CrawlReport } from './crawl/crawl-report.ts';
export { crawlSite } from './crawl/crawl-site.ts';
export { QueryWords } from './crawl/query-words.ts';
export { get } from './get.ts';
export { readingModeOf } from './media-type.ts';
export { pageOf } from './page.ts';
export { webUrl } from './web-url.ts';
