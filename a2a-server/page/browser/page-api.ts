/** Exchanges JSON with the page's server. */
import { ClientError } from '../../../shared/client/index.ts';
import { fieldOf } from '../../../shared/runtime/record.ts';
import { PAGE_API_URL, signedInFetch } from './sign-in/sign-in.ts';

/** Reads JSON from the page's server. @param path below `API` @throws ClientError */
export function readJson(path: string): Promise<unknown> {
  return requestJson(path);
}

/** Sends JSON to the page's server, and returns its answer. @param path below `API` @throws ClientError */
export function sendJson(path: string, body: object | undefined, method = 'POST'): Promise<unknown> {
  return requestJson(path, {
    method,
    ...(body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
}

async function requestJson(path: string, init?: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await signedInFetch(`${PAGE_API_URL}${path}`, init);
  } catch (error) {
    throw new ClientError('unreachable', 'The server could not be reached.', { cause: error });
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body;
  const message = fieldOf(fieldOf(body, 'error'), 'message');
  throw new ClientError(
    'refused',
    typeof message === 'string' ? message : `The server answered ${response.status}.`,
    { status: response.status, retryable: response.status >= 500 },
  );
}
