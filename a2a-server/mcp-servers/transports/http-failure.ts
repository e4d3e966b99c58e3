/** What is wrong with an MCP server's HTTP, as a sentence without its subject and its end. Never quotes a header of ours. */
import { oneLine } from '../../tools/one-line.ts';
import { networkFailure } from '../../tools/web/network-failure.ts';
import { messageOf } from '../../../shared/errors.ts';

/** `fetch` says `fetch failed` and has the reason as the cause, or the cause of that. */
export function httpFailure(error: unknown, url: URL): Error {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const known = networkFailure(at, url);
    if (known !== at && known instanceof Error) return known;
  }
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new Error(oneLine(messageOf(cause), 300), { cause: error });
}

/** An answer that is none, by its status. */
export async function statusFailure(response: Response, url: URL): Promise<Error> {
  const { status } = response;
  const location = response.headers.get('location');
  if (status >= 300 && status < 400 && location !== null)
    return new Error(
      `${url.host} redirects to ${oneLine(location, 200)}; if that is the server, put it there`,
    );
  const text = oneLine((await response.text().catch(() => '')).trim(), 200);
  const hint = status === 401 || status === 403 ? ' (are its "headers" right?)' : '';
  return new Error(`${url.host} answered with HTTP ${status}${hint}${text === '' ? '' : `: ${text}`}`);
}
