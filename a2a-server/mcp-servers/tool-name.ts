/** Builds the agent's name for an MCP tool: `mcp__<server>__<tool>`. */
import { MAX_TOOL_NAME_CHARS } from '../tools/tool.ts';
import { sha256 } from '../../shared/runtime/sha256.ts';

/** The number of hash characters at the end of a changed or ambiguous name. */
const HASH_CHARS = 8;

/**
 * Returns a stable and unique name. The journal contains this name, so each process must compute the same one. A
 * changed or ambiguous name ends with a hash of the full names.
 */
export function mcpToolName(server: string, tool: string): string {
  const [serverPart, toolPart] = [server, tool].map((part) => part.replaceAll(/[^A-Za-z0-9_-]/g, '_'));
  const name = `mcp__${serverPart}__${toolPart}`;
  // After the prefix, the first `__` separates the server's name from the tool's name.
  const clear = !server.includes('__') && !server.endsWith('_') && tool !== '';
  if (
    clear &&
    serverPart === server &&
    toolPart === tool &&
    name.length <= MAX_TOOL_NAME_CHARS &&
    !isMarked(tool)
  )
    return name;
  const mark = sha256(`${server}\0${tool}`).slice(0, HASH_CHARS);
  return `${name.slice(0, MAX_TOOL_NAME_CHARS - HASH_CHARS - 1)}_${mark}`;
}

/** True if the tool's own name already ends like the hash that `mcpToolName` appends. */
function isMarked(tool: string): boolean {
  return /_[0-9a-f]{8}$/.test(tool);
}
