/** Builds the JSON-RPC error for a request that reaches no MCP server, with the matching HTTP status. */

/** JSON-RPC 2.0 §5.1: a code for implementation-defined errors. */
const REFUSED = -32_000;
export const PARSE_ERROR = -32_700;

export function rpcError(
  status: number,
  message: string,
  { code = REFUSED, headers = {} }: { code?: number; headers?: Record<string, string> } = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}
