/**
 * The documentation site: the pages of docs/ as they are, with a search that runs in the browser. A build needs no
 * network, and a page loads nothing from other hosts. A link to a missing page fails the build.
 */
import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vitepress';
import { headingAnchor } from './heading-anchor.ts';
import { readSidebar } from './sidebar.ts';
import { unlinkSources } from './unlink-sources.ts';

const docs = new URL('../../docs/', import.meta.url);

/** The pages are outside this package, so Vite does not find Vue from there. Node finds it when it renders them. */
const vueOfThisPackage: Plugin = {
  name: 'vue-of-this-package',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) =>
    ssr === true && /^vue(?:$|\/)/u.test(id) ? { id, external: true } : undefined,
};

export default defineConfig({
  title: 'mcp-a2a-bridge',
  description: 'Delegate work from an MCP client to an A2A agent, and approve each risky step.',
  srcDir: '../docs',
  outDir: 'dist',
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  cleanUrls: false,
  lastUpdated: false,
  markdown: { config: unlinkSources, anchor: { slugify: headingAnchor } },
  transformHtml(html, file) {
    const [other] =
      /<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?\/\/[^"]*"/u.exec(html) ?? [];
    if (other !== undefined) throw new Error(`${file} loads from another host: ${other}`);
  },
  vite: { plugins: [vueOfThisPackage] },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: readSidebar(readFileSync(new URL('README.md', docs), 'utf8')),
    outline: [2, 3],
  },
});
