/** Reads the JSON body of an HTTP request, up to a maximum size. */
import { PARSE_ERROR } from '../../../shared/net/json-rpc-codes.ts';
import { isJsonContentType, readRequestBody } from '@modelcontextprotocol/server';
import { rpcErrorResponse } from './rpc-error.ts';

const MAX_BODY_BYTES = 4 * 1024 * 1024;
/**
 * If a body is too large, the bridge reads and discards up to this many bytes more. Otherwise the sender might not read
 * the error response.
 */
const MAX_DISCARDED_BYTES = 8 * MAX_BODY_BYTES;
/**
 * The headers of a response after which the connection is closed. A part of the request body may be unread, so the
 * connection cannot be used for another request.
 */
const CLOSE_CONNECTION = { Connection: 'close' };

/** The parsed body of a request, or the error response to a request whose body is not valid. */
type ReadBody = { type: 'read'; body: unknown } | { type: 'refused'; response: Response };

export const NO_BODY: ReadBody = { type: 'read', body: undefined };

export async function readJsonBody(request: Request): Promise<ReadBody> {
  if (!isJsonContentType(request.headers.get('content-type')))
    return refusedBody(rpcErrorResponse(415, 'Send application/json.'));
  try {
    const read = await readRequestBody(request, MAX_BODY_BYTES);
    if (read.tooLarge) {
      await discard(request, MAX_DISCARDED_BYTES);
      const problem = `The body is larger than ${String(MAX_BODY_BYTES)} bytes.`;
      return refusedBody(rpcErrorResponse(413, problem, { headers: CLOSE_CONNECTION }));
    }
    return { type: 'read', body: JSON.parse(read.text) };
  } catch {
    return refusedBody(rpcErrorResponse(400, 'The body is not JSON.', { code: PARSE_ERROR }));
  }
}

function refusedBody(response: Response): ReadBody {
  return { type: 'refused', response };
}

async function discard(request: Request, atMost: number): Promise<void> {
  let left = atMost;
  for await (const chunk of request.body ?? []) {
    left -= chunk.byteLength;
    if (left <= 0) return;
  }
}
