// The esbuild plugins of the two programs. They leave out code that a program never runs, and load other code when it is
// first needed, because a program starts faster with less code.
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { englishZod } from './bundle-program.mjs';

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
 * Returns a module that exports each name of a Node module on its own, so that esbuild keeps only the used names.
 * Otherwise each import would copy all names, which takes a twentieth of the time of a start.
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
 * Bundles libsql's JavaScript. Only its native library stays in node_modules, where libsql finds it. libsql's own
 * search needs 12 ms, because it tells glibc from musl by Node's diagnostic report. detect-libc only reads one file.
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

/**
 * Replaces a module by these contents. `from` matches the paths of the files whose imports are replaced; by default,
 * all.
 */
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
 * Loads string-width when it first measures a text (bridge/text/display-width.ts). At its load it builds tables of emoji,
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
 * Leaves out depd, which warns of deprecated functions of Express and its packages. With depd, each of these packages
 * captures a stack trace when it loads. For the line numbers of the stack trace, V8 reads the whole script again.
 */
const withoutDeprecations = replacedModule('depd', 'module.exports = () => () => undefined;');

/**
 * Leaves out the signatures of agent cards in the A2A SDK, which would load jose at every start. Only
 * shared/card/card-signature.ts signs and checks cards.
 */
const withoutSdkSignatures = replacedModule('jose', 'module.exports = {};', { from: /\/@a2a-js\/sdk\// });

/**
 * Leaves out most media types. Express builds tables of all 2,500 at its start. Express needs types without a charset
 * only for file names, and the server passes no file names to Express.
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
 * The modules that become separate chunks of the bridge. Examples are MCP, the code that the first call needs, the
 * command line, MCP over HTTP, and OpenTelemetry.
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
 * The modules that become separate chunks of the server: the packages of each provider, of ACP, of MCP, of PostgreSQL
 * and of OpenTelemetry, and the code that reads web pages.
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
 * Puts all other modules that a program imports on demand into the file of their importer. Such a module still runs at
 * its first import. Separate chunks would be dozens of files, and each file takes time to load.
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

const SHARED_PLUGINS = [
  englishZod,
  externalsOnDemand,
  nativeLibsql,
  withoutSdkSignatures,
  stringWidthOnDemand,
];

export const BRIDGE_PLUGINS = [...SHARED_PLUGINS, validatorOnDemand, importsInPlace(BRIDGE_CHUNKS)];
export const SERVER_PLUGINS = [
  ...SHARED_PLUGINS,
  withoutBodyParser,
  withoutDeprecations,
  withoutNestedParameters,
  knownModelsAsText,
  fewMediaTypes,
  importsInPlace(SERVER_CHUNKS),
];
