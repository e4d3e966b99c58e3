/** Returns the host of a URL in one normal form, for policy rules. */
import { parseUrl } from '../../../shared/net/parse-url.ts';
import type { CallTargets } from '../tool.ts';

/** The WHATWG parser has already lowered the case and decoded the name. The name can still end with a dot. */
export function hostTarget(url: string): CallTargets {
  const host = parseUrl(url)?.hostname.replace(/^\[|\]$|\.$/gu, '');
  return host === undefined ? {} : { hosts: [host] };
}
