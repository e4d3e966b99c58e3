/**
 * Refuses cursors in list requests. The bridge's lists have only one page, and the bridge issues no cursor. So every
 * cursor is invalid (MCP 2025-11-25, Pagination: "error code -32602").
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/**
 * Throws if the request contains a cursor.
 * @throws ProtocolError
 */
export function refuseCursor(params: { cursor?: string | undefined } | undefined): void {
  if (params?.cursor === undefined) return;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'This list has one page and no cursors. Ask for it without a cursor.',
  );
}
