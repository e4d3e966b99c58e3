/** Sends the requests of the signed-in page to its server. */
import { ClientError } from '../../../shared/client/index.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { fieldOf } from '../../../shared/runtime/record.ts';
import { PAGE_API_URL, signedInFetch } from './sign-in/sign-in.ts';

/** Returns true if a request failed with this error because the sign-in has ended. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ClientError && error.status === 401;
}

/** Parses an answer of the server. */
interface AnswerSchema<T> {
  parse(answer: unknown): T;
}

/**
 * Reads JSON from the page's server.
 * @param path below `PAGE_API_URL`
 * @throws ClientError, or another error if the answer does not match the schema
 */
export async function readJson<T>(path: string, schema: AnswerSchema<T>): Promise<T> {
  return schema.parse(await jsonOf(await sendRequest(path)));
}

/** Returns the path of a task below `/api/tasks`. */
export function taskPath(taskId: string, rest: string): string {
  return `/api/tasks/${encodeURIComponent(taskId)}/${rest}`;
}

/** Sends JSON to the page's server, and returns its answer. @param path below `PAGE_API_URL` @throws ClientError */
export async function sendJson(path: string, body: object | undefined, method = 'POST'): Promise<unknown> {
  const response = await sendRequest(path, {
    method,
    ...(body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
  return jsonOf(response);
}

/**
 * Reads the metadata that the server's extension adds to a task.
 * @param query the query string of `GetTask`
 * @throws ClientError, or another error if the metadata does not match the schema
 */
export async function readTaskMetadata<T>(taskId: string, schema: AnswerSchema<T>, query = ''): Promise<T> {
  const response = await sendRequest(`/tasks/${encodeURIComponent(taskId)}${query}`, {
    headers: { 'A2A-Version': '1.0', 'A2A-Extensions': TOOL_APPROVAL_EXTENSION },
  });
  return schema.parse(fieldOf(fieldOf(await response.json(), 'metadata'), TOOL_APPROVAL_EXTENSION));
}

/** Returns the body as JSON, or undefined if the body is not JSON. */
function jsonOf(response: Response): Promise<unknown> {
  return response.json().catch(() => undefined);
}

/**
 * Sends a request to the page's server, and returns the answer if it is a success.
 * @param path below `PAGE_API_URL`
 * @throws ClientError
 */
export async function sendRequest(path: string, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await signedInFetch(`${PAGE_API_URL}${path}`, init);
  } catch (error) {
    throw new ClientError('unreachable', 'The server could not be reached.', { cause: error });
  }
  if (response.ok) return response;
  const message = fieldOf(fieldOf(await jsonOf(response), 'error'), 'message');
  throw new ClientError(
    'refused',
    typeof message === 'string' ? message : `The server answered ${response.status}.`,
    { status: response.status, retryable: response.status >= 500 },
  );
}
