/** Bundles packages for the tests (scripts/test-bundles.ts), unless an earlier run has bundled them. */
import { build } from 'esbuild';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { englishZod, FOR_NODE } from './bundle-program.mjs';
import { BUNDLE_DIRECTORY, BUNDLES } from './test-bundles.ts';

export async function buildTestBundles(): Promise<void> {
  if (existsSync(BUNDLE_DIRECTORY)) return;
  await mkdir(dirname(BUNDLE_DIRECTORY), { recursive: true });
  const draft = await mkdtemp(`${BUNDLE_DIRECTORY}-`);
  await build({
    entryPoints: Object.fromEntries(Object.entries(BUNDLES).map(([bundle, [name]]) => [bundle, name])),
    outdir: draft,
    outExtension: { '.js': '.mjs' },
    ...FOR_NODE,
    splitting: true,
    plugins: [englishZod],
    minifyWhitespace: true,
    minifySyntax: true,
  });
  // If another run was faster, this draft is not needed.
  await rename(draft, BUNDLE_DIRECTORY).catch(() => rm(draft, { recursive: true }));
}
