/** Tests what a package may contain. */
import { describe, expect, it } from '@jest/globals';
import { problemsOfContents, type PackedFile } from '../../../../scripts/release/package-contents.ts';

const GOOD = [
  'LICENSE',
  'README.md',
  'package.json',
  'dist/THIRD_PARTY_NOTICES.txt',
  'dist/bridge/main.js',
  'dist/bridge/package.json',
  'dist/bridge/program-TTSEO47C.js',
  'dist/bridge/program-TTSEO47C.js.cache',
  'dist/a2a-server/main.js',
  'dist/chunk-ZFXKQ67H.js',
  'dist/client/index.js',
  'dist/client/types/client/index.d.ts',
  'dist/web/index.html',
  'dist/web/card.html',
  'docs/client.md',
  'docs/pictures/card-360-dark.webp',
  'examples/client-node.mjs',
];
const files = (paths: readonly string[], bytes = 1): PackedFile[] => paths.map((path) => ({ path, bytes }));

describe('the files of a package', () => {
  it('the programs, the client, the page, the documents and the licences are a package', () => {
    expect(problemsOfContents(files(GOOD))).toEqual([]);
  });

  it.each([
    'dist/chunk-ZFXKQ67H.js.map',
    'dist/build.json',
    'dist/client/index.js.map',
    'dist/client-packages/codex/plugin.json',
    'test/unit/x.test.ts',
    'bridge/main.ts',
    '.npmrc',
    'deploy/.env',
  ])('%s does not belong into a package', (path) => {
    expect(problemsOfContents(files([...GOOD, path]))).toEqual([`${path} does not belong into the package.`]);
  });

  it.each(['dist/a2a-server/main.js', 'dist/THIRD_PARTY_NOTICES.txt', 'LICENSE'])(
    'a package without %s is not complete',
    (path) => {
      expect(problemsOfContents(files(GOOD.filter((each) => each !== path)))).toEqual([
        `${path} is missing.`,
      ]);
    },
  );

  it('a package that has grown is noticed', () => {
    expect(problemsOfContents(files(GOOD, 2_000_000))).toEqual([
      'The files take 34.0 MB, and 20.0 MB are allowed.',
    ]);
  });
});
