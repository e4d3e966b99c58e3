/** Builds the agent's name for an MCP tool: `mcp__<server>__<tool>`. */
import { createHash } from 'node:crypto';

/** The strictest limit of the model providers, OpenAI's `^[a-zA-Z0-9_-]{1,64}$`. */
const MAX_NAME = 64;
const MARK = 8;

/**
 * Returns a stable and unique name. The journal keeps the name, so it is the same in every process. A name that was
 * shortened, changed or is ambiguous ends in a hash of the full names.
 */
export function toolName(server: string, tool: string): string {
  const [serverPart, toolPart] = [server, tool].map((part) => part.replaceAll(/[^A-Za-z0-9_-]/g, '_'));
  const name = `mcp__${serverPart}__${toolPart}`;
  // The tool's own name begins after the first `__` behind the prefix.
  const clear = !server.includes('__') && !server.endsWith('_') && tool !== '';
  if (clear && serverPart === server && toolPart === tool && name.length <= MAX_NAME && !isMarked(tool))
    return name;
  const mark = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, MARK);
  return `${name.slice(0, MAX_NAME - MARK - 1)}_${mark}`;
}

/** True if the tool's own name already ends like one of our hashes. */
function isMarked(tool: string): boolean {
  return /_[0-9a-f]{8}$/.test(tool);
}
