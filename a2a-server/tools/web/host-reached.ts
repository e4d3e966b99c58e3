/** The host of a URL, for the rules of policy: the same host in whatever spelling the URL has it. */
import { parseUrl } from '../../../shared/parse-url.ts';
import type { Reach } from '../tool.ts';

/** The WHATWG parser has lowered the case and decoded what was encoded; a name may still end with the root's dot. */
export function hostReached(url: string): Reach {
  const host = parseUrl(url)?.hostname.replace(/^\[|\]$|\.$/gu, '');
  return host === undefined ? {} : { hosts: [host] };
}
