/** Creates the `fetch` for model providers. Node's own `fetch` ignores the proxy variables. */
import type { Environment } from '../../../shared/runtime/environment.ts';
import { proxyFor, readProxySettings } from './proxy-settings.ts';

/** Returns the `fetch` for model providers. @throws ProductError CONFIGURATION if a proxy variable is not valid */
export function createProviderFetch(env: Environment): typeof fetch {
  const settings = readProxySettings(env);
  if (settings === undefined) return fetch;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const proxy = proxyFor(url, settings);
    if (proxy === undefined) return fetch(input, init);
    // The proxy's code loads slowly, and most servers need no proxy. So it loads only if a proxy is used.
    const { fetchThroughProxy } = await import('./fetch-through-proxy.ts');
    return fetchThroughProxy(proxy, url, init);
  };
}
