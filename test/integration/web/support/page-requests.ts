/** The requests of the approval page, without a browser. */
import { z } from 'zod';
import { makeLink } from './sign-in.ts';

/** Sends a GET request to the page's API. */
export type PageGet = (path: string, signal?: AbortSignal) => Promise<Response>;

/** Signs in as the page does. Returns a function that sends the page's requests. */
export async function signedIn({ server }: { server: { url: string; token: string } }): Promise<PageGet> {
  const code = new URLSearchParams(new URL(await makeLink(server)).hash.slice(1)).get('code');
  const answer = await fetch(`${server.url}/page/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.url },
    body: JSON.stringify({ code }),
  });
  const { pageKey } = z.object({ pageKey: z.string() }).parse(await answer.json());
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  const headers = { cookie, 'x-page-key': pageKey, 'sec-fetch-site': 'same-origin' };
  return (path, signal) => fetch(`${server.url}/page/api${path}`, { headers, ...(signal && { signal }) });
}
