/** Returns the host names and the origins that requests may name, from the settings. Pure. */
import type { AllowedHostsAndOrigins } from '../http/auth/host-and-origin-check.ts';
import type { ServerSettings } from './settings/settings.ts';

type HostSettings = Pick<ServerSettings, 'host' | 'publicUrl' | 'publicHost' | 'allowOrigin'>;

/**
 * The host names always include the listen address and the public URL. Behind a proxy, the approval page's requests
 * have the public URL as origin.
 */
export function allowedHostsAndOrigins({
  host,
  publicUrl,
  publicHost,
  allowOrigin,
}: HostSettings): AllowedHostsAndOrigins {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl);
  const hosts = [host, ...(own ? [own.hostname.replace(/^\[|\]$/g, '')] : []), ...publicHost];
  return {
    publicHosts: hosts.map((name) => name.toLowerCase()),
    origins: [...allowOrigin, ...(own ? [own.origin] : [])],
  };
}
