/** Finds the entries in the configuration of an MCP client that start the bridge. */
import { z } from 'zod';
import { type ClientEnvironment, type McpClientProgram, type ConfigScope, CONFIG_SCOPES } from './client.ts';
import { readEditableConfig } from './config-file.ts';
import { bridgeStartedBy, configFormatOf, type StartedProgram } from './config-text.ts';

export interface BridgeEntry {
  scope: ConfigScope;
  name: string;
  path: string;
  started: StartedProgram;
  /** Warnings about the entry; see `hazards` of `McpClientProgram`. */
  hazards: readonly string[];
}

const servers = z.record(z.string(), z.unknown());

/**
 * Finds the entries that start the bridge, in each scope (user, project, local).
 * @param onUnreadable called for a file that cannot be read
 * @returns the entries, those of the widest scope first
 */
export async function findBridgeEntries(
  client: McpClientProgram,
  around: ClientEnvironment,
  onUnreadable: (scope: ConfigScope, path: string, error: unknown) => void,
): Promise<readonly BridgeEntry[]> {
  const entries: BridgeEntry[] = [];
  const seen = new Set<string>();
  for (const scope of CONFIG_SCOPES) {
    const place = await client.places[scope]?.(around);
    // Two scopes may have the same file: in the home directory, the project's file may also be the user's file. Such a
    // file is read only once.
    if (place === undefined || seen.has(JSON.stringify(place))) continue;
    seen.add(JSON.stringify(place));
    try {
      const { text, path } = await readEditableConfig(place.path);
      const found = servers.safeParse(configFormatOf(client.format).read(text, place.section)).data ?? {};
      for (const [name, entry] of Object.entries(found)) {
        const started = bridgeStartedBy(entry);
        if (started !== undefined)
          entries.push({ scope, name, path, started, hazards: bridgeEntryWarnings(client, entry) });
      }
    } catch (error) {
      onUnreadable(scope, place.path, error);
    }
  }
  return entries;
}

/** Returns the warnings about an entry. @param entry the entry exactly as the client's file contains it */
export function bridgeEntryWarnings({ hazards }: McpClientProgram, entry: unknown): readonly string[] {
  const parsed = servers.safeParse(entry);
  return parsed.success ? (hazards?.(parsed.data) ?? []) : [];
}
