/**
 * Checks one line of stdin before the SDK reads it. The SDK drops an invalid line silently, and the sender would wait
 * forever. Pure.
 */
import { INVALID_REQUEST, PARSE_ERROR, parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { parseJson } from '../../../shared/text/parse-json.ts';

/** The JSON-RPC error for a line that is not an MCP message (JSON-RPC 2.0 §5.1). */
export interface McpLineError {
  jsonrpc: '2.0';
  /** The id of the request. Absent if the line has none, because MCP's schema does not allow null. */
  id?: string | number;
  error: { code: number; message: string };
}

const requestId = z.looseObject({ id: z.union([z.string(), z.number().int()]), method: z.unknown() });

/** Validates one line of stdin. Returns undefined for a valid message and for an empty line. */
export function mcpLineErrorOf(line: string): McpLineError | undefined {
  if (line.trim() === '') return undefined;
  const value = parseJson(line);
  if (value === undefined)
    return lineError(PARSE_ERROR, 'Parse error: the line is not JSON. Nothing was done.');
  try {
    parseJSONRPCMessage(value);
    return undefined;
  } catch (error) {
    // Only an error about a request has an id. The id of an invalid response is not used, because it belongs to a
    // request of the bridge.
    const id = requestId.safeParse(value).data?.id;
    return lineError(
      INVALID_REQUEST,
      `Invalid request: ${Array.isArray(value) ? 'MCP has no batches' : problemOf(error)}. Nothing was done.`,
      id,
    );
  }
}

export function mcpLineTooLongError(limit: number): McpLineError {
  const message = `Invalid request: a line is longer than ${String(limit)} bytes. Nothing was done.`;
  return lineError(INVALID_REQUEST, message);
}

function lineError(code: number, message: string, id?: string | number): McpLineError {
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code, message } };
}

const MAX_PATH_CHARACTERS = 100;

/**
 * Says where the message is invalid. The parser reports errors for every kind of message, so only the path is useful.
 */
function problemOf(error: unknown): string {
  if (!(error instanceof z.core.$ZodError)) return 'it is no JSON-RPC message';
  const places = error.issues.flatMap((issue) =>
    issue.code === 'invalid_union' ? issue.errors.flat() : [issue],
  );
  const deepest = places.toSorted((a, b) => b.path.length - a.path.length)[0]?.path ?? [];
  return deepest.length === 0
    ? 'it is no JSON-RPC message'
    : `${deepest.map(String).join('.').slice(0, MAX_PATH_CHARACTERS)} is not valid`;
}
