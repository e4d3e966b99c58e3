/** Compares the dependencies of the package with the packages that the build leaves out of its files. */
import { expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/** The build wraps each script of the programs in this function, whose `require` hides that of Node from esbuild. */
const WRAPPER = /^(?:#!.*\n)?\(function\(exports,require,module,programUrl\)\{([^]*)\}\)\s*(?:\/\/#.*\s*)?$/;
const RESOLVED = /\bcreateRequire\([\w.]+\)\.resolve\("([^"]+)"\)/g;
/** What a declaration file imports by name: `from 'x'`, `import('x')`. */
const DECLARED = /\b(?:from |import\()["']([@\w][^"']*)["']/g;

/** @returns the modules that a script loads by name with `require` or `import` */
async function loadedByScript(path: string, source: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: { contents: WRAPPER.exec(source)?.[1] ?? source, resolveDir: dirname(path) },
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    external: ['*'],
    logLevel: 'silent',
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports.map((each) => each.path));
  return [...imports, ...[...source.matchAll(RESOLVED)].map(([, name = '']) => name)];
}

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

it('the package depends on just the packages whose code is not in the build', async () => {
  const built = z.array(z.string()).parse(JSON.parse(await readFile('dist/build.json', 'utf8')));
  const files = built.filter((file) => /\.js$|\.d\.ts$/.test(file) && !file.startsWith('web/'));
  const loaded = await Promise.all(
    files.map(async (file) => {
      const path = join('dist', file);
      const source = await readFile(path, 'utf8');
      if (file.endsWith('.js')) return loadedByScript(path, source);
      return [...source.matchAll(DECLARED)].map(([, name = '']) => name);
    }),
  );
  const outside = new Set(
    loaded
      .flat()
      .filter((name) => !name.startsWith('.') && !isBuiltin(name))
      .map(packageOf),
  );
  const { dependencies } = z
    .object({ dependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(await readFile('package.json', 'utf8')));
  expect([...outside].toSorted()).toEqual(Object.keys(dependencies).toSorted());
});
