import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { lazily } from './lazily.ts';

const packageFile = z.object({ name: z.literal('mcp-a2a-bridge'), version: z.string() });

/**
 * Returns the version in this package's package.json. Only the first call reads the file, because an update may replace
 * the file while this version runs.
 */
export const readPackageVersion = lazily(readVersion);

/** Searches the directories above this file for package.json, because a bundle in dist/ is at another depth than the sources. */
function readVersion(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const version = versionIn(join(directory, 'package.json'));
    if (version !== undefined) return version;
    const parent = dirname(directory);
    if (parent === directory) return 'unknown';
    directory = parent;
  }
}

function versionIn(path: string): string | undefined {
  try {
    return packageFile.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data?.version;
  } catch {
    return undefined;
  }
}
