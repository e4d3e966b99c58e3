// Bundles the programs into dist/, each with chunks loaded on demand, and with the bytecode of its start; the approval
// page; and the client library with its types, one file for Node and browsers.
//
// `node scripts/build.mjs [--if-changed] [directory]`: the build is made beside the last one in the directory (default
// dist), and takes its place at the end. With --if-changed, nothing happens if no source is newer than the last build.
import './require-node.mjs';
import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { englishZod } from './bundle-program.mjs';
import { helpInSource } from './help-in-source.mjs';
import { isBuilt } from './is-built.mjs';
import { recordCodeCache } from './record-code-cache.mjs';
import { draftPrefix, replaceBuild } from './replace-build.mjs';
import { thirdPartyNotices } from './third-party-notices.mjs';

/**
 * Loads Node's modules and libsql when the first module that imports them runs. A bundle otherwise loads them all at its
 * start, also those that only a part of the program needs.
 */
const externalsOnDemand = {
  name: 'externals-on-demand',
  setup({ onResolve, onLoad }) {
    const namespace = 'on-demand';
    onResolve({ filter: /^(node:.*|libsql)$/ }, ({ path, kind, namespace: importer }) => {
      if (kind === 'import-statement' && importer !== namespace) return { path, namespace };
      return path === 'libsql' ? undefined : { path, external: true };
    });
    onLoad({ filter: /.*/, namespace }, async ({ path }) => ({
      resolveDir: process.cwd(),
      contents: path === 'libsql' ? `module.exports = require('${path}');` : await moduleOfNode(path),
    }));
  },
};

/**
 * Exports each name of a Node module on its own. esbuild then keeps the used ones. For a CommonJS module it would copy all
 * names at each import, which takes a twentieth of a start.
 */
async function moduleOfNode(path) {
  const names = Object.keys(await import(path)).filter((name) => name !== 'default');
  return [
    `const $module = require('${path}');`,
    'const $get = (name) => $module[name];',
    'export default $module;',
    ...names.map((name) => `export const ${name} = /* @__PURE__ */ $get('${name}');`),
  ].join('\n');
}

/**
 * Bundles libsql's JavaScript. Only its native library stays in node_modules, where libsql finds it. Its own search asks
 * Node for a diagnostic report, which takes 12 ms, to tell glibc from musl. detect-libc reads one file for it.
 */
const nativeLibsql = {
  name: 'native-libsql',
  setup({ onResolve, onLoad }) {
    const namespace = 'native-target';
    onResolve({ filter: /^@neon-rs\/load$/ }, ({ path, importer }) => ({
      path,
      namespace,
      pluginData: { resolveDir: dirname(importer) },
    }));
    onLoad({ filter: /.*/, namespace }, ({ pluginData }) => ({
      ...pluginData,
      contents: `
        const { MUSL, familySync } = require('detect-libc');
        exports.currentTarget = () => {
          const { arch, platform } = process;
          if (platform === 'win32') return 'win32-' + arch + '-msvc';
          if (platform !== 'linux') return platform + '-' + arch;
          if (arch === 'arm') return 'linux-arm-gnueabihf';
          return 'linux-' + arch + (familySync() === MUSL ? '-musl' : '-gnu');
        };`,
    }));
    onLoad({ filter: /\/libsql\/index\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const load = 'return require(`@libsql/${target}`)';
      if (!source.includes(load)) throw new Error('libsql loads its native library in another way');
      const fromLibsql = `const { createRequire } = require('node:module');
        return createRequire(createRequire(programUrl).resolve('libsql'))(\`@libsql/\${target}\`)`;
      return { contents: source.replace(load, () => fromLibsql) };
    });
  },
};

/** Replaces a module by these contents. `from` matches the importers; by default, all. */
const replacedModule = (module, contents, { kind, from = /./ } = {}) => ({
  name: `replaced-${module}`,
  setup({ onResolve, onLoad }) {
    const namespace = `replaced-${module}`;
    onResolve({ filter: new RegExp(`^${module}$`) }, (imported) =>
      from.test(imported.importer) && (kind ?? imported.kind) === imported.kind
        ? { path: module, namespace }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace }, () => ({ resolveDir: process.cwd(), contents }));
  },
});

/**
 * Loads ajv, a quarter of the MCP SDK, when the first answer to a form is validated. The SDK otherwise loads it at the start.
 */
const validatorOnDemand = replacedModule(
  '@modelcontextprotocol/server/_shims',
  `export { default as process } from 'node:process';
   export class DefaultJsonSchemaValidator {
     getValidator(schema) {
       this.validator ??= new (require('@modelcontextprotocol/server/_shims').DefaultJsonSchemaValidator)();
       return this.validator.getValidator(schema);
     }
   }`,
  { kind: 'import-statement' },
);

/**
 * Loads string-width when it first measures a text (shared/text/display-width.ts). At its load it builds tables of emoji,
 * which takes as long as half of Node's own start.
 */
const stringWidthOnDemand = replacedModule(
  'string-width',
  "export default (text) => require('string-width').default(text);",
  { kind: 'import-statement' },
);

/**
 * Leaves out body-parser with its character sets, a fifth of the code that the server loads at its start. The server has
 * read each body itself (a2a-server/http/wire/request-body.ts) before the A2A SDK's routes use the JSON parser.
 */
const withoutBodyParser = replacedModule(
  'body-parser',
  'module.exports = { json: () => (request, response, next) => next() };',
);

/**
 * Leaves out qs, which Express loads for nested query parameters. The server uses the simple query parser.
 */
const withoutNestedParameters = replacedModule('qs', 'module.exports = {};');

/**
 * Leaves out depd, which warns developers of Express and of its packages. Each of them captures a stack trace at its start.
 * For the line numbers, V8 reads the whole script again.
 */
const withoutDeprecations = replacedModule('depd', 'module.exports = () => () => undefined;');

/**
 * Leaves out the signatures of agent cards in the A2A SDK, which would load jose at every start. Only
 * shared/card/card-signature.ts signs and checks cards.
 */
const withoutSdkSignatures = replacedModule('jose', 'module.exports = {};', { from: /\/@a2a-js\/sdk\// });

/**
 * Leaves out most media types. Express builds tables of all 2,500 at its start. It needs them for file names, which the
 * server never passes to it, and for the charset of a type.
 */
const fewMediaTypes = {
  name: 'few-media-types',
  setup({ onLoad }) {
    onLoad({ filter: /\/mime-db\/db\.json$/ }, async ({ path }) => {
      const types = Object.entries(JSON.parse(await readFile(path, 'utf8')));
      const kept = types.filter(
        ([type, { charset }]) => charset !== undefined || /^text\/(html|plain)$/.test(type),
      );
      return { contents: JSON.stringify(Object.fromEntries(kept)), loader: 'json' };
    });
  },
};

/** Keeps the data of the known models as text. V8 parses JSON faster than it loads the bytecode of an object. */
const knownModelsAsText = {
  name: 'known-models-as-text',
  setup({ onLoad }) {
    onLoad({ filter: /\/known-models\.json$/ }, async ({ path }) => {
      const text = JSON.stringify(JSON.parse(await readFile(path, 'utf8')));
      return { contents: `export default JSON.parse(${JSON.stringify(text)});` };
    });
  },
};

/**
 * The bridge's own chunks: MCP, what the first call needs, the command line, its flags alone, MCP over HTTP, and
 * OpenTelemetry.
 */
const BRIDGE_CHUNKS = [
  'jose',
  '@simplewebauthn/server',
  '/open-bridge.ts',
  '/program.ts',
  '/serve.ts',
  '/serve-arguments.ts',
  '/serve-http.ts',
  '/open-call-spans.ts',
  '/log-problems.ts',
];
/**
 * The server's own chunks: the packages of each provider, of ACP, of MCP, of PostgreSQL and of OpenTelemetry, and the code
 * that reads web pages.
 */
const SERVER_CHUNKS = [
  '@ai-sdk/',
  'jose',
  'openid-client',
  '@simplewebauthn/server',
  '/postgres-journal.ts',
  '/postgres/readonly-journal.ts',
  '/postgres-records.ts',
  '/acp-backend.ts',
  '/send-provider-request.ts',
  '/mcp-servers.ts',
  '/connect.ts',
  '/web-on-demand.ts',
  '/open-metrics.ts',
  '/open-traces.ts',
  '/log-problems.ts',
];

/**
 * Leaves all other modules that a program imports on demand in the file of the importer. Such a module still runs at its
 * first import. A chunk for each would split the rest into dozens of files, and each file takes time to load.
 *
 * Also writes non-ASCII characters as escapes. esbuild leaves them in regular expressions, and one such character makes
 * Node keep a whole file in memory with two bytes for each character.
 * @param chunks the ends of the specifiers of the program's own chunks; '@x/' stands for all packages of @x
 */
const importsInPlace = (chunks) => ({
  name: 'imports-in-place',
  setup({ onLoad, onEnd }) {
    const unused = new Set(chunks);
    const isChunk = (specifier) => {
      const chunk = chunks.find((each) =>
        each.endsWith('/') ? specifier.startsWith(each) : specifier.endsWith(each),
      );
      unused.delete(chunk);
      return chunk !== undefined;
    };
    onEnd(() => ({
      errors: [...unused].map((chunk) => ({ text: `no import on demand names the chunk ${chunk}` })),
    }));
    onLoad({ filter: /\/(bridge|a2a-server|shared)\/.*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source
        .replaceAll(/\bimport\('([^']+)'\)/g, (dynamicImport, specifier) =>
          isChunk(specifier) ? dynamicImport : `Promise.resolve(require('${specifier}'))`,
        )
        .replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
      return { contents, loader: 'ts' };
    });
  },
});

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'if-changed': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
});
if (values.help) {
  process.stdout.write(await helpInSource(import.meta.filename));
  process.exit();
}
const [target = 'dist'] = positionals;
if (values['if-changed'] && (await isBuilt(target))) process.exit();
const draft = await mkdtemp(draftPrefix(target));
const modules = join(draft, 'modules');

/** Bundles a program as ES modules, because esbuild makes chunks only of those. @returns the files' paths */
async function bundle(program, plugins) {
  const { metafile } = await build({
    entryPoints: { [`${program}/program`]: `${program}/main.ts` },
    entryNames: '[dir]/[name]-[hash]',
    outdir: modules,
    metafile: true,
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
    plugins: [
      englishZod,
      externalsOnDemand,
      nativeLibsql,
      withoutSdkSignatures,
      stringWidthOnDemand,
      ...plugins,
    ],
    logLevel: 'warning',
  });
  const files = Object.keys(metafile.outputs).filter((file) => file.endsWith('.js'));
  const entry = files.find((file) => metafile.outputs[file].entryPoint === `${program}/main.ts`);
  return { files, entry, metafile };
}

/** V8 caches bytecode of scripts only. So scripts/start-program.cjs gets each ES module as a function expression. */
const AS_FUNCTION = {
  outdir: draft,
  outbase: modules,
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': 'programUrl' },
  banner: { js: '(function(exports,require,module,programUrl){' },
  footer: { js: '})' },
  sourcemap: true,
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
};

/**
 * Writes the scripts of a program. esbuild has made a chunk of all code that several files share. The program's own script
 * contains the chunks that every start loads, because each file takes time to load. It exports the chunks that other scripts
 * import, by their paths.
 */
async function writeScripts({ files, entry, metafile }) {
  const atStart = staticImports(entry, metafile);
  const late = files.filter((file) => !atStart.has(file));
  const shared = new Set(
    late.flatMap((file) => importsOf(file, metafile)).filter((file) => atStart.has(file)),
  );
  const main = join(dirname(entry), `main-of-${basename(entry)}`);
  const fromMain = (file) => JSON.stringify(relativeImport(dirname(entry), file));
  await writeFile(
    main,
    [
      ...[...shared].map((file) => `export * as ${fromMain(file)} from ${fromMain(file)};`),
      `import ${fromMain(entry)};`,
    ].join('\n'),
  );
  await build({ ...AS_FUNCTION, entryPoints: late });
  await build({
    ...AS_FUNCTION,
    entryPoints: [{ in: main, out: relative(modules, entry).replace(/\.js$/, '') }],
    bundle: true,
    packages: 'external',
    plugins: [lateScripts(dirname(entry))],
  });
}

/** Leaves the import of a script that a program loads late, with its path from the program's own script. */
const lateScripts = (directory) => ({
  name: 'late-scripts',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) =>
      kind === 'dynamic-import'
        ? { path: relativeImport(resolve(directory), join(resolveDir, path)), external: true }
        : undefined,
    );
  },
});

/** @returns the path in an import, which starts with a dot */
function relativeImport(directory, file) {
  const path = relative(directory, file);
  return path.startsWith('.') ? path : `./${path}`;
}

/** @returns the file and all files that it imports statically, also indirectly */
function staticImports(file, metafile, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const imported of importsOf(file, metafile)) staticImports(imported, metafile, found);
  return found;
}

function importsOf(file, metafile) {
  return metafile.outputs[file].imports
    .filter(({ kind, external }) => kind === 'import-statement' && !external)
    .map(({ path }) => path);
}

async function writeMain(program, entry) {
  const outfile = join(draft, program, 'main.js');
  await build({
    entryPoints: ['scripts/start-program.cjs'],
    outfile,
    platform: 'node',
    target: 'node20.19',
    define: { ENTRY_FILE: JSON.stringify(relative(join(modules, program), entry)) },
    banner: { js: '#!/usr/bin/env node' },
    logLevel: 'warning',
  });
  await chmod(outfile, 0o755);
  // The package's own package.json says that .js files are ES modules.
  await writeFile(join(draft, program, 'package.json'), '{"type":"commonjs"}\n');
}

// A client waits for the start of the bridge. The server loads a provider's packages only when a model needs them.
const programs = {
  bridge: await bundle('bridge', [validatorOnDemand, importsInPlace(BRIDGE_CHUNKS)]),
  'a2a-server': await bundle('a2a-server', [
    withoutBodyParser,
    withoutDeprecations,
    withoutNestedParameters,
    knownModelsAsText,
    fewMediaTypes,
    importsInPlace(SERVER_CHUNKS),
  ]),
};
for (const program of Object.values(programs)) await writeScripts(program);
for (const [program, { entry }] of Object.entries(programs)) await writeMain(program, entry);
await rm(modules, { recursive: true });

const FOR_BROWSER = {
  metafile: true,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2023',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
};

// The approval page: its script, its style sheet with the sheets that it imports, and its HTML.
const page = await build({
  ...FOR_BROWSER,
  entryPoints: [
    { in: 'a2a-server/page/browser/app/main.tsx', out: 'page' },
    { in: 'a2a-server/page/browser/page.css', out: 'page' },
  ],
  outdir: join(draft, 'web'),
});
const pageFiles = [
  'index.html',
  'page.webmanifest',
  'page-icon.svg',
  'page-icon-192.png',
  'page-icon-512.png',
];
for (const name of pageFiles) await copyFile(`a2a-server/page/browser/${name}`, join(draft, 'web', name));

// The approval card: one HTML file with its script and its style, because an MCP host loads only one.
const card = await build({
  entryPoints: ['a2a-server/page/browser/card/main.tsx'],
  ...FOR_BROWSER,
  write: false,
});
// Text of the script must not end its element.
const script = card.outputFiles[0].text.replaceAll('</script', '<\\/script');
const style = await readFile(join(draft, 'web', 'page.css'), 'utf8');
const cardHtml = (await readFile('a2a-server/page/browser/card/card.html', 'utf8'))
  .replace('<style></style>', () => `<style>${style}</style>`)
  .replace('<script type="module"></script>', () => `<script type="module">${script}</script>`);
await writeFile(join(draft, 'web', 'card.html'), cardHtml);

const client = await build({
  entryPoints: ['shared/client/index.ts'],
  metafile: true,
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

const bundles = [...Object.values(programs), page, card, client];
const inputs = bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs));
await writeFile(join(draft, 'THIRD_PARTY_NOTICES.txt'), await thirdPartyNotices(inputs));

// Without bytecode, the programs work too. They start slower.
await recordCodeCache(draft).catch((error) =>
  process.stderr.write(`No bytecode was recorded: ${error.message}\n`),
);
await replaceBuild(draft, target);
