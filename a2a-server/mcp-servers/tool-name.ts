/** What a tool of an MCP server is called here: `mcp__<server>__<tool>`. */
import { createHash } from 'node:crypto';

/** What the strictest of the model providers takes, OpenAI: `^[a-zA-Z0-9_-]{1,64}$`. */
const MAX_NAME = 64;
const MARK = 8;

/**
 * The same for the same tool in every process, for a journal keeps it, and another for another tool. What had to be changed
 * to fit, or could be read in two ways, ends in a mark made from the whole names.
 */
export function toolName(server: string, tool: string): string {
  const [serverPart, toolPart] = [server, tool].map((part) => part.replaceAll(/[^A-Za-z0-9_-]/g, '_'));
  const name = `mcp__${serverPart}__${toolPart}`;
  // The first `__` after the prefix is where the tool's own name begins.
  const clear = !server.includes('__') && !server.endsWith('_') && tool !== '';
  if (clear && serverPart === server && toolPart === tool && name.length <= MAX_NAME && !isMarked(tool))
    return name;
  const mark = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, MARK);
  return `${name.slice(0, MAX_NAME - MARK - 1)}_${mark}`;
}

/** Whether a tool's own name looks like a mark of ours. */
function isMarked(tool: string): boolean {
  return /_[0-9a-f]{8}$/.test(tool);
}
