/**
 * The packages that most tests load, and that have dozens of modules. Jest compiles each module again for each test file, so
 * the tests load bundles (scripts/build-test-bundles.ts).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The bundles, and the names by which modules import them. The bundles of zod share the bundle of its core. */
export const BUNDLES = {
  zod: ['zod', 'zod/v4'],
  'zod-mini': ['zod/mini', 'zod/v4-mini'],
  'zod-core': ['zod/v4/core'],
  jose: ['jose'],
} as const;

const lock = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex').slice(0, 16);

/** The directory of the bundles, one for each set of installed packages. */
export const BUNDLE_DIRECTORY = resolve('node_modules/.cache/mcp-a2a-bridge/test-packages', lock);

/** The bundle of each import, for Jest's `moduleNameMapper`. */
export const testBundles: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(BUNDLES).flatMap(([bundle, names]) =>
    names.map((name) => [`^${name}$`, join(BUNDLE_DIRECTORY, `${bundle}.mjs`)]),
  ),
);
