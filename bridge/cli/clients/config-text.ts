/** Changes one entry in the configuration text of an MCP client, and nothing else. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { McpClientProgram } from './client.ts';
import type { ConfigFormat, ServerEntry } from './config-format.ts';
import { createJsonFormat } from './json-text.ts';
import { tomlFormat } from './toml-text.ts';

const FORMATS: Readonly<Record<McpClientProgram['format'], ConfigFormat>> = {
  json: createJsonFormat({ comments: false }),
  jsonc: createJsonFormat({ comments: true }),
  toml: tomlFormat,
};

export const configFormatOf = (format: McpClientProgram['format']): ConfigFormat => FORMATS[format];

const startedOverStdio = z.looseObject({ command: z.string(), args: z.array(z.string()).default([]) });

/** Returns true if the entry starts the bridge, however the bridge was installed. */
export function isBridgeEntry(entry: unknown): boolean {
  const parsed = startedOverStdio.safeParse(entry);
  if (!parsed.success) return false;
  const { command, args } = parsed.data;
  return [command, ...args].some((each) =>
    /(^|[\\/])(mcp-a2a-bridge(\.cmd|@[^\\/]+)?|bridge[\\/]main\.js)$/.test(each),
  );
}

export type ConfigChange =
  | { type: 'same' }
  | { type: 'changed'; text: string }
  /** Another MCP server uses this name, so nothing is changed. */
  | { type: 'taken' };

/**
 * Adds the bridge's entry, or updates it. Other keys of the entry, such as its environment, stay.
 * @param defaults keys that are added only if the entry does not have them
 */
export function putBridgeEntry(
  config: ConfigFormat,
  text: string,
  { keys, entry, defaults = {} }: { keys: readonly string[]; entry: ServerEntry; defaults?: ServerEntry },
): ConfigChange {
  const before = config.read(text, keys);
  if (before !== undefined && !isBridgeEntry(before)) return { type: 'taken' };
  const known = z.record(z.string(), z.unknown()).safeParse(before).data ?? {};
  const wanted = { ...entry, ...defaults, ...known, ...entry };
  return isDeepStrictEqual(wanted, known)
    ? { type: 'same' }
    : { type: 'changed', text: config.put(text, keys, wanted) };
}

export function removeBridgeEntry(config: ConfigFormat, text: string, keys: readonly string[]): ConfigChange {
  const before = config.read(text, keys);
  if (before === undefined) return { type: 'same' };
  if (!isBridgeEntry(before)) return { type: 'taken' };
  return { type: 'changed', text: config.remove(text, keys) };
}
