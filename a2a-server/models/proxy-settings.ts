/**
 * Chooses the proxy of a request to a model provider, by the variables that curl and most programs use: `HTTPS_PROXY`,
 * `HTTP_PROXY` and `NO_PROXY`, in upper or lower case. Pure.
 *
 * As in Go's `httpproxy`, a request to this machine never uses a proxy: a local model needs no other machine.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import { parseUrl } from '../../shared/net/parse-url.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ProxySettings {
  /** The proxy of `https:` URLs. */
  https: URL | undefined;
  /** The proxy of `http:` URLs. */
  http: URL | undefined;
  /** The entries of `NO_PROXY`, in lower case. */
  except: readonly string[];
}

/** @throws ProductError CONFIGURATION, which names the variable and not its value, because the value may have a password */
export function proxySettings(env: Environment): ProxySettings | undefined {
  const https = proxyIn(env, 'https_proxy');
  const http = proxyIn(env, 'http_proxy');
  if (https === undefined && http === undefined) return undefined;
  const { value = '' } = variable(env, 'no_proxy') ?? {};
  const except = value
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
  return { https, http, except };
}

/** @returns the proxy for this URL; undefined if the request goes directly */
export function proxyFor(url: URL, { https, http, except }: ProxySettings): URL | undefined {
  const proxy = url.protocol === 'https:' ? https : http;
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  if (proxy === undefined || isThisMachine(host)) return undefined;
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return except.some((entry) => matches(entry, host, port)) ? undefined : proxy;
}

function isThisMachine(host: string): boolean {
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(host)
  );
}

/** An entry is `*`, or a host with its subdomains, optionally with a port, a leading dot, or `*.`. */
function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  // An IPv6 address without brackets has colons but no port.
  const [, name = entry, entryPort] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(entry) ?? [];
  if (entryPort !== undefined && entryPort !== port) return false;
  const domain = name.replace(/^\*?\./, '');
  return host === domain || host === `[${domain}]` || host.endsWith(`.${domain}`);
}

function proxyIn(env: Environment, name: string): URL | undefined {
  const found = variable(env, name);
  if (found === undefined) return undefined;
  // curl: a proxy without a scheme is an HTTP proxy.
  const url = parseUrl(found.value.includes('://') ? found.value : `http://${found.value}`);
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new ProductError(
    'CONFIGURATION',
    `The environment variable ${found.name} is not the URL of an HTTP proxy. Set it like http://proxy.example:8080, or remove it. SOCKS proxies are not supported.`,
    { facts: { variable: found.name } },
  );
}

/** curl prefers the name in lower case. An empty value is no value. */
function variable(env: Environment, name: string): { name: string; value: string } | undefined {
  for (const each of [name, name.toUpperCase()]) {
    const value = env[each]?.trim() ?? '';
    if (value !== '') return { name: each, value };
  }
  return undefined;
}
