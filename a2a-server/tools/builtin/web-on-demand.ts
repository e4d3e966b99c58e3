/**
 * The web tools import this module when a model first uses one of them. One module for all exports gives only one extra
 * file in the build.
 */
export { CrawlReport } from '../web/crawl/crawl-report.ts';
export { crawlSite } from '../web/crawl/crawl-site.ts';
export { QueryWords } from '../web/crawl/query-words.ts';
export { fetchUrl } from '../web/fetch-url.ts';
export { bodyReadModeOf } from '../web/media-type.ts';
export { parseWebPage } from '../web/parse-web-page.ts';
export { parseWebUrl } from '../web/web-url.ts';
