import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { glob } from 'tinyglobby';

const root = process.cwd();

/** Returns every file of a folder with its imports: paths from the project's root, or package names. */
async function imports(folder: string): Promise<{ file: string; target: string }[]> {
  const files = await glob(`${folder}/**/*.{ts,tsx}`, { cwd: root });
  const found = await Promise.all(
    files.map(async (file) => {
      const source = await readFile(join(root, file), 'utf8');
      return [...source.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map(([, specifier = '']) => ({
        file,
        target: specifier.startsWith('.') ? relative(root, join(root, dirname(file), specifier)) : specifier,
      }));
    }),
  );
  return found.flat();
}

/** Matches a module that does I/O. The other modules of Node that the pure folders load only compute. */
const IMPURE = /^(?:node:(?!crypto$|path$|util$)|express|libsql|pg|pino)/;

/** Returns what the files load at run time: paths from the project's root and package names, each with its importer. */
async function loadedModules(files: readonly string[]): Promise<Map<string, string>> {
  const loaded = new Map(files.map((file) => [file, 'the start']));
  for (const [file] of loaded) {
    if (!existsSync(join(root, file))) continue;
    const source = await readFile(join(root, file), 'utf8');
    for (const [, specifier = ''] of source.matchAll(
      /^(?:import|export) (?!type )(?:[^;']*? from )?'([^']+)';/gm,
    )) {
      const target = specifier.startsWith('.') ? join(dirname(file), specifier) : specifier;
      if (!loaded.has(target)) loaded.set(target, file);
    }
  }
  return loaded;
}

describe('the imports between folders', () => {
  it.each([
    ['bridge', /^a2a-server\//],
    ['a2a-server', /^bridge\//],
    ['shared', /^(bridge|a2a-server)\//],
    ['bridge', /^test\//],
    ['a2a-server', /^test\//],
    ['shared', /^test\//],
    ['a2a-server/task', /^a2a-server\/(?!task\/)/],
  ])('no file in %s/ imports what %s matches', async (folder, forbidden) => {
    const found = await imports(folder);
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter(({ target }) => forbidden.test(target))).toEqual([]);
  });

  it.each([
    ['bridge/main.ts', /^@modelcontextprotocol/],
    ['bridge/cli/**/*.ts', /^@modelcontextprotocol/],
    ['a2a-server/task/**/*.ts', IMPURE],
    // These two read the workspace.
    ['a2a-server/policy/!(resolve-targets|policy-dry-run).ts', IMPURE],
    ['bridge/dialects/**/*.ts', IMPURE],
  ])('%s, with all that it loads, loads no module that %s matches', async (pattern, forbidden) => {
    const loaded = await loadedModules(await glob(pattern, { cwd: root }));
    expect(loaded.size).toBeGreaterThan(20);
    expect([...loaded].filter(([target]) => forbidden.test(target))).toEqual([]);
  });

  it('two of the programs, the page and the client library use each file of shared/', async () => {
    const all = (await Promise.all(['bridge', 'a2a-server', 'shared'].map(imports))).flat();
    const partsThatUse = (path: string): RegExp[] => {
      const users = new Set([path]);
      for (const each of users)
        if (each.startsWith('shared/'))
          for (const { file, target } of all) if (target === each) users.add(file);
      return [
        /^bridge\//,
        /^a2a-server\/(?!page\/browser\/)/,
        /^a2a-server\/page\/browser\//,
        /^shared\/client\//,
      ].filter((part) => [...users].some((file) => part.test(file)));
    };
    const files = await glob('shared/**/*.ts', { cwd: root });
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((path) => partsThatUse(path).length < 2)).toEqual([]);
  });

  it('only one file imports the SQLite driver', async () => {
    const all = await Promise.all(['a2a-server', 'bridge', 'shared'].map(imports));
    const drivers = all.flat().filter(({ target }) => target === 'libsql');
    expect([...new Set(drivers.map(({ file }) => file))]).toEqual(['shared/sqlite/driver.ts']);
  });

  it.each([
    ['no two folders', ['bridge', 'a2a-server', 'shared'], dirname],
    // All of `models/` counts as one part of the server, with the folders below it.
    ['no two parts of the server', ['a2a-server'], (path: string) => path.split('/').slice(0, 2).join('/')],
  ])('%s import each other', async (_what, folders, placeOf) => {
    const all = (await Promise.all(folders.map(imports))).flat();
    const edges = new Set(
      all
        .filter(({ target }) => folders.some((folder) => target.startsWith(`${folder}/`)))
        .map(({ file, target }) => [placeOf(file), placeOf(target)])
        .filter(([from, to]) => from !== to)
        .map(([from, to]) => `${from} -> ${to}`),
    );
    const mutual = [...edges].filter((edge) => edges.has(edge.split(' -> ').toReversed().join(' -> ')));
    expect(edges.size).toBeGreaterThan(30);
    expect(mutual).toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  it('ARCHITECTURE.md explains every invariant that the code or a test cites', async () => {
    const files = await glob(['bridge/**/*.ts', 'a2a-server/**/*.ts', 'shared/**/*.ts', 'test/**/*.ts'], {
      cwd: root,
    });
    const sources = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
    const cited = new Set(
      sources.flatMap((source) => source.match(/(?<![\w'"\\/#.%-])[JEDASBX]\d(?![\w.%])/g) ?? []),
    );
    const legend = await readFile(join(root, 'ARCHITECTURE.md'), 'utf8');
    const explained = new Set([...legend.matchAll(/^\| ([JEDASBX]\d) /gm)].map(([, code]) => code));
    expect([...cited].filter((code) => !explained.has(code))).toEqual([]);
  });

  it('ARCHITECTURE.md names only files and folders that exist', async () => {
    const text = await readFile(join(root, 'ARCHITECTURE.md'), 'utf8');
    const named = [...text.matchAll(/`((?:bridge|a2a-server|shared|test|docs)\/[\w./-]*)`/g)].map(
      ([, path = '']) => path,
    );
    const missing = named.filter((path) => !existsSync(join(root, path)));
    expect(named.length).toBeGreaterThan(10);
    expect(missing).toEqual([]);
  });
});
