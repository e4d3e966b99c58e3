/** The version of this package, as its package.json says. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const packageFile = z.object({ name: z.literal('mcp-a2a-bridge'), version: z.string() });

/** Found by going up from this file: from the sources, and from a bundle in dist/, it is not equally far. */
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
