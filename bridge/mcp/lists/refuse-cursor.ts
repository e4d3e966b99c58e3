/**
 * The bridge's lists have one page (MCP 2025-11-25, Pagination). The bridge issues no cursor, so every cursor is
 * invalid: "error code -32602".
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/**
 * Refuses a request with a cursor.
 * @throws ProtocolError if the request has a cursor
 */
export function refuseCursor(params: { cursor?: string | undefined } | undefined): void {
  if (params?.cursor === undefined) return;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'This list has one page and no cursors. Ask for it without a cursor.',
  );
}
