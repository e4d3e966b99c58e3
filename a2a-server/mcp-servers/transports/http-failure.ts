/** Describes HTTP errors of an MCP server, without a full stop. Never includes a request header. */
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { toNetworkError } from '../../tools/web/network-failure.ts';
import { isConnectFailure } from '../../../shared/net/is-connect-failure.ts';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import { fieldOf } from '../../../shared/runtime/record.ts';

/**
 * Describes an error of `fetch`. Its own message is only `fetch failed`. The reason is in its cause, or in the cause of
 * its cause.
 */
export function httpRequestError(error: unknown, url: URL): Error {
  const chain = [error, causeOf(error), causeOf(causeOf(error))];
  for (const each of chain) {
    const known = toNetworkError(each, url);
    if (known !== each) return withoutEnd(errorMessageOf(known), error);
  }
  return withoutEnd(oneLineExcerpt(errorMessageOf(causeOf(error) ?? error), 300), error);
}

/**
 * Returns the cause of an error. Reads the field without `instanceof`, because a system error may come from another
 * JavaScript realm.
 */
const causeOf = (error: unknown): unknown => fieldOf(error, 'cause');

function withoutEnd(sentence: string, cause: unknown): Error {
  return new Error(sentence.replace(/\.$/, ''), { cause });
}

export async function readHttpError(response: Response, url: URL): Promise<Error> {
  const { status } = response;
  const location = response.headers.get('location');
  if (status >= 300 && status < 400 && location !== null)
    return new Error(
      `${url.host} redirects to ${oneLineExcerpt(location, 200)}; if you trust that address, set it as the "url"`,
    );
  return new Error(httpStatusText(url, status, await response.text().catch(() => '')));
}

/** @param text the body of the response */
export function httpStatusText({ host }: URL, status: number, text: string): string {
  const hint = status === 401 || status === 403 ? ' (check its "headers")' : '';
  const said = oneLineExcerpt(text.trim(), 200);
  return `${host} answered with HTTP ${status}${hint}${said === '' ? '' : `: ${said}`}`;
}

/** True if the request failed without a response. */
export function isFetchFailure(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed';
}

/** True if the client never connected. The server has then not received the request. */
export function isConnectionNeverOpened(error: unknown): boolean {
  return isFetchFailure(error) && isConnectFailure(causeOf(error));
}
