/** Answers to requests that no MCP server has seen: a JSON-RPC error, as MCP over HTTP has it, with the status that says the same. */

/** JSON-RPC 2.0 §5.1: a code of the implementation's own. */
const REFUSED = -32_000;
export const PARSE_ERROR = -32_700;

export function rpcError(
  status: number,
  message: string,
  { code = REFUSED, headers = {} }: { code?: number; headers?: Record<string, string> } = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}
