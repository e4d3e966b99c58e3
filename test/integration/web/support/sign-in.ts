/** Signs a browser in to the approval page, with the link that the command line prints. */
import type { Page } from 'playwright-core';
import { z } from 'zod';
import type { PageTarget } from '../../../../shared/net/page-address.ts';

interface Server {
  url: string;
  token: string;
}

export async function makeLink({ url, token }: Server, target: PageTarget = {}): Promise<string> {
  const response = await fetch(`${url}/page/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(target),
  });
  return z.object({ url: z.string() }).parse(await response.json()).url;
}

/** Signs in, and waits until the page is signed in. An earlier navigation would abort the exchange of the code. */
export async function signIn(page: Page, server: Server, target: PageTarget = {}): Promise<void> {
  await page.goto(await makeLink(server, target));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
}
