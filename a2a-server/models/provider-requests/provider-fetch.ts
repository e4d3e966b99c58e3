/**
 * Creates the `fetch` for model providers. Node's own `fetch` ignores the proxy variables: `HTTPS_PROXY`, `HTTP_PROXY`
 * and `NO_PROXY`. This `fetch` reads the variables. Their names may be in upper or lower case.
 *
 * A request to this machine never uses a proxy, as in Go's `httpproxy`.
 */
import type { Environment } from '../../../shared/runtime/environment.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { isLoopback } from '../../../shared/net/loopback.ts';
import { parseUrl } from '../../../shared/net/parse-url.ts';

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

interface ProxySettings {
  https: URL | undefined;
  http: URL | undefined;
  except: readonly string[];
}

/**
 * Reads the proxy variables.
 * @throws ProductError CONFIGURATION, which names the variable. The message omits the value, which may contain a
 * password.
 */
export function readProxySettings(env: Environment): ProxySettings | undefined {
  const https = proxyIn(env, 'https_proxy');
  const http = proxyIn(env, 'http_proxy');
  if (https === undefined && http === undefined) return undefined;
  const { value = '' } = readProxyVariable(env, 'no_proxy') ?? {};
  const except = value
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
  return { https, http, except };
}

/** Returns the proxy for a request. Returns undefined if the request needs no proxy. */
export function proxyFor(url: URL, { https, http, except }: ProxySettings): URL | undefined {
  const proxy = url.protocol === 'https:' ? https : http;
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  if (proxy === undefined || isLoopback(host) || host.endsWith('.localhost')) return undefined;
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return except.some((entry) => matchesNoProxyEntry(entry, host, port)) ? undefined : proxy;
}

/**
 * Compares an entry of `NO_PROXY` with a host. An entry is `*`, or a host name that includes its subdomains. A host
 * name may have a leading `.` or `*.`, and a port.
 */
function matchesNoProxyEntry(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  // An IPv6 address without brackets has several colons and no port. The expression does not match such an address, so
  // the whole entry is the name.
  const [, name = entry, entryPort] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(entry) ?? [];
  if (entryPort !== undefined && entryPort !== port) return false;
  const domain = name.replace(/^\*?\./, '');
  return host === domain || host === `[${domain}]` || host.endsWith(`.${domain}`);
}

function proxyIn(env: Environment, name: string): URL | undefined {
  const found = readProxyVariable(env, name);
  if (found === undefined) return undefined;
  // curl reads a proxy without a scheme as an HTTP proxy.
  const url = parseUrl(found.value.includes('://') ? found.value : `http://${found.value}`);
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new ProductError(
    'CONFIGURATION',
    `The environment variable ${found.name} is not the URL of an HTTP proxy. Set it like http://proxy.example:8080, or remove it. SOCKS proxies are not supported.`,
    { facts: { variable: found.name } },
  );
}

/** Returns a proxy variable. Prefers the name in lower case, as curl does. An empty variable is treated as missing. */
function readProxyVariable(env: Environment, name: string): { name: string; value: string } | undefined {
  for (const each of [name, name.toUpperCase()]) {
    const value = env[each]?.trim() ?? '';
    if (value !== '') return { name: each, value };
  }
  return undefined;
}
