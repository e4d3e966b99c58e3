// Bundles a TypeScript program, because Node 20 runs no TypeScript. Bundles again only if a source is newer.
import { mkdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';

/** The root of the project. `import.meta.url` does not show it, because this module is also part of bundles. */
const ROOT = process.cwd();
/** The bundles are below node_modules, so that their imports of packages resolve and git ignores them. */
const BUNDLES = join(ROOT, 'node_modules', '.cache', 'mcp-a2a-bridge');
/** When npm updates a package, its files do not get a new time. So the lock file is an input instead. */
const ALWAYS_INPUTS = ['package-lock.json', 'scripts/bundle-program.mjs'];

/** The options of esbuild for a bundle that Node runs. */
export const FOR_NODE = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
};

/** zod has messages in 50 languages, a third of its code. These programs use only English. */
export const englishZod = {
  name: 'english-zod',
  setup(bundler) {
    bundler.onResolve({ filter: /locales\/index\.js$/ }, ({ path, importer, resolveDir }) =>
      /node_modules\/zod\//.test(importer) ? { path: join(resolveDir, dirname(path), 'en.js') } : undefined,
    );
  },
};

/**
 * A bundle with its packages needs only two thirds of the CPU time to start. libsql has a native library, so it is not
 * in the bundle.
 */
const WITH_PACKAGES = {
  external: ['libsql'],
  plugins: [englishZod],
  // CommonJS packages in the bundle call `require` for Node's modules.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};

const WITHOUT_PACKAGES = { packages: 'external', sourcemap: 'inline' };

const running = new Map();

/** See bundle-program.d.mts. */
export function bundleProgram(source, { withPackages = false } = {}) {
  const path = relative(ROOT, resolve(ROOT, source));
  const kind = withPackages ? 'programs-with-packages' : 'programs';
  const bundle = join(BUNDLES, kind, path.replace(/\.ts$/, '.mjs'));
  const begun = running.get(bundle) ?? bundleIfChanged(path, bundle, withPackages);
  running.set(bundle, begun);
  return begun.finally(() => running.delete(bundle));
}

/** Other processes may bundle the same program at the same time. Each writes a file of its own, and renames it. */
async function bundleIfChanged(path, bundle, withPackages) {
  if (await isNewerThanInputs(bundle)) return bundle;
  const { build } = await import('esbuild');
  const unfinished = `${bundle}.${process.pid}`;
  const startedAt = await fileTimeNow(unfinished);
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [path],
    outfile: unfinished,
    metafile: true,
    ...FOR_NODE,
    ...(withPackages ? WITH_PACKAGES : WITHOUT_PACKAGES),
  });
  await writeFile(inputsOf(unfinished), JSON.stringify([...ALWAYS_INPUTS, ...Object.keys(metafile.inputs)]));
  // With this time, a source that changes during the build is newer than the bundle.
  await utimes(unfinished, startedAt, startedAt);
  await rename(inputsOf(unfinished), inputsOf(bundle));
  await rename(unfinished, bundle);
  return bundle;
}

/**
 * Returns the time that a new file gets. It can be behind `Date.now()`: the kernel's clock for files moves at ticks,
 * and a busy machine misses some ticks.
 */
async function fileTimeNow(path) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, '');
  return (await stat(path)).mtime;
}

const inputsOf = (bundle) => `${bundle}.inputs.json`;

async function isNewerThanInputs(bundle) {
  try {
    const { mtimeMs } = await stat(bundle);
    const inputs = JSON.parse(await readFile(inputsOf(bundle), 'utf8'));
    const changed = await Promise.all(inputs.map((input) => stat(join(ROOT, input))));
    return changed.every((input) => input.mtimeMs < mtimeMs);
  } catch {
    // A file is missing or not whole.
    return false;
  }
}
