/**
 * Creates one-time links that sign a browser in to an agent's approval page. Only the person may see such a link, never
 * a model.
 */
import { z } from 'zod';
import type { PageTarget } from '../../shared/net/page-address.ts';

const pageLink = z.object({ url: z.url({ protocol: /^https?$/ }), expiresAt: z.iso.datetime() });

export interface PageLink {
  url: string;
  /** The time in RFC 3339 at which the link expires. */
  expiresAt: string;
}

interface PageLinkOptions {
  url: string;
  /** The origins of the interface URLs on the agent's card. A link to another origin is rejected. */
  origins: readonly string[];
  fetch: typeof fetch;
  signal: AbortSignal;
}

/**
 * Creates a one-time link to the agent's approval page. Returns null if the agent has no page.
 * @throws any error of `fetch`
 */
export async function requestPageLink(
  target: PageTarget,
  options: PageLinkOptions,
): Promise<PageLink | null> {
  const response = await options.fetch(new URL('/page/links', options.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(target),
    signal: options.signal,
  });
  if (!response.ok) return null;
  const link = pageLink.parse(await response.json());
  return [options.url, ...options.origins].some((each) => new URL(each).origin === new URL(link.url).origin)
    ? link
    : null;
}
