/** Reads the version of this package from its package.json. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const packageFile = z.object({ name: z.literal('mcp-a2a-bridge'), version: z.string() });

/** Searches upwards from this file. The distance differs between the sources and a bundle in dist/. */
export function packageVersion(): string {
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
