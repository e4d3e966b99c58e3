// Builds both programs, the approval page, the approval card, and the client library with its types. A program is split
// into scripts, and loads some of them only when it needs them. Beside its scripts, the build writes the bytecode of
// the code that a start and a first task need. So a program starts faster. The library is one file for Node and
// browsers.
//
// `node scripts/build.mjs [--if-changed] [directory]`: builds in a draft beside the directory (default dist), and
// replaces the last build at the end. With --if-changed, does nothing if no source is newer than the last build.
import './require-node.mjs';
import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { FOR_NODE } from './bundle-program.mjs';
import { BRIDGE_PLUGINS, SERVER_PLUGINS } from './bundle-plugins.mjs';
import { helpInSource } from './help-in-source.mjs';
import { isBuilt } from './is-built.mjs';
import { recordCodeCache } from './record-code-cache.mjs';
import { draftPrefix, replaceBuild } from './replace-build.mjs';
import { thirdPartyNotices } from './third-party-notices.mjs';

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

/** Bundles a program as ES modules, because esbuild splits only ES modules into chunks. @returns the files' paths */
async function bundle(program, plugins) {
  const { metafile } = await build({
    entryPoints: { [`${program}/program`]: `${program}/main.ts` },
    entryNames: '[dir]/[name]-[hash]',
    outdir: modules,
    metafile: true,
    ...FOR_NODE,
    splitting: true,
    sourcemap: true,
    // Node keeps source text in memory, so whitespace is removed. Names stay readable in stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    // The CommonJS build of jsonc-parser loads its parts by names that a bundler cannot follow.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    plugins,
  });
  const files = Object.keys(metafile.outputs).filter((file) => file.endsWith('.js'));
  const entry = files.find((file) => metafile.outputs[file].entryPoint === `${program}/main.ts`);
  return { files, entry, metafile };
}

/** V8 caches bytecode of scripts only. So scripts/start-program.cjs gets each ES module as a function expression. */
const AS_FUNCTION = {
  ...FOR_NODE,
  bundle: false,
  outdir: draft,
  outbase: modules,
  format: 'cjs',
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': 'programUrl' },
  banner: { js: '(function(exports,require,module,programUrl){' },
  footer: { js: '})' },
  sourcemap: true,
  minifyWhitespace: true,
  minifySyntax: true,
};

/**
 * Writes the scripts of a program from esbuild's chunks. The program's main script contains all chunks that every start
 * loads, because each file takes time to load. It exports the chunks that other scripts import, by their paths.
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

/**
 * Keeps the import of a script that a program loads on demand. The path becomes relative to the program's main script.
 */
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
  // The package.json of the whole package says that .js files are ES modules. The scripts of a program are CommonJS.
  await writeFile(join(draft, program, 'package.json'), '{"type":"commonjs"}\n');
}

const programs = {
  bridge: await bundle('bridge', BRIDGE_PLUGINS),
  'a2a-server': await bundle('a2a-server', SERVER_PLUGINS),
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
// The text `</script` would end the script's element.
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

// Without bytecode, the programs work, but start more slowly.
await recordCodeCache(draft).catch((error) =>
  process.stderr.write(`No bytecode was recorded: ${error.message}\n`),
);
await replaceBuild(draft, target);
