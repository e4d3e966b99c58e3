import { compareVersions } from '../text/compare-versions.ts';

/** The version of a program that does not find its package.json. */
const UNKNOWN = 'unknown';

/**
 * Says that the running local server has another version than this program. Pure.
 *
 * The bridge does not replace the server by itself. A tool that runs would be stopped, and the new server would get the
 * environment of this bridge: it may lack the keys and settings of the terminal that started the old one.
 */
export function otherVersionNote(running: string, own: string): string | undefined {
  if (running === UNKNOWN || own === UNKNOWN || own === running) return undefined;
  return compareVersions(running, own) < 0
    ? `The local A2A server still runs version ${running}, and this program has version ${own}. To replace the server when no tool runs: "mcp-a2a-bridge server stop", then "mcp-a2a-bridge server start". Its tasks go on.`
    : `The local A2A server runs version ${running}, and this program still has version ${own}. Restart the MCP client, or the program that started this one. Tasks go on.`;
}
