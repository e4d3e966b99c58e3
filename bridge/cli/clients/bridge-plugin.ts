/** Finds the plugin that starts the bridge in an MCP client. */
import { z } from 'zod';
import type { ClientEnvironment, McpClientProgram } from './client.ts';
import { readEditableConfig } from './config-file.ts';
import { configFormatOf } from './config-text.ts';

export interface BridgePlugin {
  name: string;
  /** The path of the file that enables the plugin. */
  path: string;
}

const PLUGIN = /^a2a-bridge(@.+)?$/;
const disabled = z.union([z.literal(false), z.object({ enabled: z.literal(false) })]);
const pluginTable = z.record(z.string(), z.unknown());

/** Returns the enabled plugin. Returns undefined if there is none, or if the file cannot be read. */
export async function findBridgePlugin(
  { plugins }: McpClientProgram,
  around: ClientEnvironment,
): Promise<BridgePlugin | undefined> {
  if (plugins === undefined) return undefined;
  const { path, section, format } = plugins(around);
  try {
    const { text } = await readEditableConfig(path);
    const table = pluginTable.safeParse(configFormatOf(format).read(text, section)).data ?? {};
    const name = Object.keys(table).find(
      (each) => PLUGIN.test(each) && !disabled.safeParse(table[each]).success,
    );
    return name === undefined ? undefined : { name, path };
  } catch {
    return undefined; // Another check of `doctor` reports configuration files that cannot be read.
  }
}
