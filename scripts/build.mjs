// Bundles the programs into dist/, each with chunks loaded on demand; the approval page; and the client library with
// its types, one file for Node and browsers.
//
// `node scripts/build.mjs [directory]`: the build is made beside the last one in the directory (default dist), and takes
// its place at the end.
import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdtemp, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { draftPrefix, replaceBuild } from './replace-build.mjs';

/** zod includes error messages in 50 languages, a third of its code. The programs use only English. */
const englishZod = {
  name: 'english-zod',
  setup({ onResolve }) {
    onResolve({ filter: /locales\/index\.js$/ }, ({ path, importer, resolveDir }) =>
      /node_modules\/zod\//.test(importer) ? { path: join(resolveDir, dirname(path), 'en.js') } : undefined,
    );
  },
};

/**
 * Loads Node's modules and libsql when the first module that imports them runs. A bundle otherwise loads them all at its
 * start, also those that only a part of the program needs: libsql is a native library.
 */
const externalsOnDemand = {
  name: 'externals-on-demand',
  setup({ onResolve, onLoad }) {
    const namespace = 'on-demand';
    onResolve({ filter: /^(node:.*|libsql)$/ }, ({ path, kind, namespace: importer }) =>
      kind === 'import-statement' && importer !== namespace ? { path, namespace } : { path, external: true },
    );
    onLoad({ filter: /.*/, namespace }, ({ path }) => ({ contents: `module.exports = require('${path}');` }));
  },
};

/**
 * Loads ajv, a quarter of the MCP SDK, when the first answer to a form is validated. The SDK otherwise loads it at the start.
 */
const validatorOnDemand = {
  name: 'validator-on-demand',
  setup({ onResolve, onLoad }) {
    const namespace = 'validator';
    const sdk = '@modelcontextprotocol/server/_shims';
    onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace } : undefined,
    );
    onLoad({ filter: /.*/, namespace }, () => ({
      resolveDir: process.cwd(),
      contents: `
        export { default as process } from 'node:process';
        export class DefaultJsonSchemaValidator {
          getValidator(schema) {
            this.validator ??= new (require('${sdk}').DefaultJsonSchemaValidator)();
            return this.validator.getValidator(schema);
          }
        }`,
    }));
  },
};

/**
 * Leaves out iconv-lite, a fifth of the code that the server loads at its start. Only body-parser imports it, to decode
 * other character sets than UTF-8. The server takes bodies as bytes and decodes UTF-8 itself.
 */
const withoutCharsets = {
  name: 'without-charsets',
  setup({ onResolve, onLoad }) {
    const namespace = 'no-charsets';
    onResolve({ filter: /^iconv-lite$/ }, ({ path }) => ({ path, namespace }));
    onLoad({ filter: /.*/, namespace }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** The bridge's own chunks: what the first call needs, the command line, and MCP over HTTP. */
const BRIDGE_CHUNKS = /\/(open-bridge|program|serve-http)\.ts'$/;

/**
 * Leaves all other modules that the bridge imports on demand in the file of the importer. Such a module still runs at its
 * first import. A chunk for each would split the rest into dozens of files, and each file takes time to load.
 */
const importsInPlace = {
  name: 'imports-in-place',
  setup({ onLoad }) {
    onLoad({ filter: /\/(bridge|shared)\/.*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source.replaceAll(/\bimport\(('[^']+')\)/g, (dynamicImport, specifier) =>
        BRIDGE_CHUNKS.test(specifier) ? dynamicImport : `Promise.resolve(require(${specifier}))`,
      );
      return { contents, loader: 'ts' };
    });
  },
};

const [target = 'dist'] = process.argv.slice(2);
const draft = await mkdtemp(draftPrefix(target));
const program = (entryPoint, plugins = []) => ({
  entryPoints: [entryPoint],
  outdir: draft,
  outbase: '.',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  // Node keeps source text in memory, so whitespace is removed. Names stay readable in stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  // Its CommonJS build loads its parts by names that a bundler cannot follow.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  banner: {
    // CommonJS dependencies inside an ES module bundle call `require`.
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  plugins: [englishZod, externalsOnDemand, ...plugins],
  logLevel: 'warning',
});
// A client waits for the start of the bridge. The server loads a provider's packages only when a model needs them.
await build(program('bridge/main.ts', [validatorOnDemand, importsInPlace]));
await build(program('a2a-server/main.ts', [withoutCharsets]));
const entryPoints = ['bridge/main.ts', 'a2a-server/main.ts'];
await Promise.all(entryPoints.map((entry) => chmod(join(draft, entry.replace(/\.ts$/, '.js')), 0o755)));

// The approval page: its script, HTML and CSS.
await build({
  entryPoints: { page: 'a2a-server/page/browser/main.tsx' },
  outdir: join(draft, 'web'),
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2023',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
});
for (const name of ['index.html', 'page.css'])
  await copyFile(`a2a-server/page/browser/${name}`, join(draft, 'web', name));

await build({
  entryPoints: ['shared/client/index.ts'],
  outfile: join(draft, 'client', 'index.js'),
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  target: 'es2022',
  sourcemap: true,
  logLevel: 'warning',
});
await promisify(execFile)(process.execPath, [
  'node_modules/typescript/bin/tsc',
  '-p',
  'shared/client',
  '--outDir',
  join(draft, 'client', 'types'),
]);
await replaceBuild(draft, target);
