/** Builds the JSON-RPC error, with an HTTP status, for a request that does not reach an MCP server. */

/** JSON-RPC 2.0 §5.1: an error code that the implementation defines. */
const SERVER_ERROR = -32_000;

export function rpcErrorResponse(
  status: number,
  message: string,
  { code = SERVER_ERROR, headers = {} }: { code?: number; headers?: Record<string, string> } = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}
