/** Creates the `fetch` for model providers. Node's own `fetch` ignores the proxy variables. */
import type { Environment } from '../../../shared/runtime/environment.ts';
import { proxyFor, readProxySettings } from './proxy-settings.ts';

/** Returns the `fetch` for model providers. @throws ProductError CONFIGURATION if a proxy variable is not valid */
export function createProviderFetch(env: Environment): typeof fetch {
  const settings = readProxySettings(env);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    // The HTTP client loads slowly, so it loads at the first request.
    const { sendProviderRequest } = await import('./send-provider-request.ts');
    return sendProviderRequest(url, init, settings && proxyFor(url, settings));
  };
}
