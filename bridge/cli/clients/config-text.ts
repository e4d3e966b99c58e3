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

/** The fields of an entry that start a program. The schema drops all other fields. */
const startedProgramSchema = z.object({
  command: z.string(),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.unknown()).catch({}),
});
export type StartedProgram = z.infer<typeof startedProgramSchema>;

const BRIDGE = /(^|[\\/])(mcp-a2a-bridge(\.cmd|@[^\\/]+)?|bridge[\\/]main\.js)$/;

/** Returns what the entry starts, if that is the bridge, however the bridge was installed. */
export function bridgeStartedBy(entry: unknown): StartedProgram | undefined {
  const started = startedProgramSchema.safeParse(entry).data;
  return started && [started.command, ...started.args].some((each) => BRIDGE.test(each))
    ? started
    : undefined;
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
  if (before !== undefined && bridgeStartedBy(before) === undefined) return { type: 'taken' };
  const known = z.record(z.string(), z.unknown()).safeParse(before).data ?? {};
  const wanted = { ...entry, ...defaults, ...known, ...entry };
  return isDeepStrictEqual(wanted, known)
    ? { type: 'same' }
    : { type: 'changed', text: config.put(text, keys, wanted) };
}

export function removeBridgeEntry(config: ConfigFormat, text: string, keys: readonly string[]): ConfigChange {
  const before = config.read(text, keys);
  if (before === undefined) return { type: 'same' };
  if (bridgeStartedBy(before) === undefined) return { type: 'taken' };
  return { type: 'changed', text: config.remove(text, keys) };
}
