/** What is wrong with an MCP server's HTTP, as a sentence without its end. Never quotes a header of ours. */
import { oneLine } from '../../tools/one-line.ts';
import { networkFailure } from '../../tools/web/network-failure.ts';
import { messageOf } from '../../../shared/errors.ts';

/** `fetch` says `fetch failed` and has the reason as the cause, or the cause of that. */
export function httpFailure(error: unknown, url: URL): Error {
  const chain = [error, causeOf(error), causeOf(causeOf(error))];
  for (const each of chain) {
    const known = networkFailure(each, url);
    if (known !== each) return withoutEnd(messageOf(known), error);
  }
  return withoutEnd(oneLine(messageOf(causeOf(error) ?? error), 300), error);
}

/** Told by its shape: a system's error may come from another realm. */
function causeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
}

function withoutEnd(sentence: string, cause: unknown): Error {
  return new Error(sentence.replace(/\.$/, ''), { cause });
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
