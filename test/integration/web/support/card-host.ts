/**
 * An MCP host in a browser. Its page shows the approval card in a sandbox, with the host side of the official library
 * of MCP Apps. The page and the card have different origins.
 */
import { build } from 'esbuild';
import { createServer } from 'node:http';
import { listenOnLoopback } from '../../../support/listen-on-loopback.ts';

/** The policy that a host must set for a page without a CSP of its own (MCP Apps 2026-01-26, "Host Behavior"). */
const CARD_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "media-src 'self' data:",
  "connect-src 'none'",
].join('; ');

/** `callBridge` is a function of the test: it calls a tool of the bridge, and returns the result. */
const PAGE = `<!doctype html><title>A chat</title><script type="module">
  import { AppBridge, PostMessageTransport } from '/app-bridge.js';
  window.openedLinks = [];
  window.modelContext = [];
  window.called = [];
  window.showCard = async ({ address, result, theme }) => {
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.style.width = '100%';
    frame.style.border = '0';
    document.body.replaceChildren(frame);
    const capabilities = { openLinks: {}, serverTools: {}, updateModelContext: { text: {} } };
    const hostContext = { theme, displayMode: 'inline' };
    const bridge = new AppBridge(null, { name: 'test', version: '1' }, capabilities, { hostContext });
    bridge.onsizechange = ({ height }) => { frame.style.height = height + 'px'; };
    bridge.oncalltool = ({ name, arguments: args }) => {
      called.push(name);
      return callBridge(name, args);
    };
    bridge.onopenlink = async ({ url }) => { openedLinks.push(url); return {}; };
    bridge.onupdatemodelcontext = async ({ content }) => { modelContext.push(content[0].text); return {}; };
    const initialized = new Promise((resolve) => { bridge.oninitialized = resolve; });
    await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    frame.src = address;
    await initialized;
    await bridge.sendToolInput({ arguments: {} });
    await bridge.sendToolResult(result);
  };
</script>`;

export interface CardHost {
  /** The address of the host's page. */
  address: string;
  /** The address of the card's page. */
  card: string;
  close: () => Promise<void>;
}

let library: Promise<string> | undefined;

/** Bundles the official library once per test file. */
async function bundledLibrary(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['@modelcontextprotocol/ext-apps/app-bridge'],
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

/** @param html the card, as the bridge gives it */
export async function startCardHost(html: string): Promise<CardHost> {
  library ??= bundledLibrary();
  const script = await library;
  const host = createServer((request, response) => {
    const isScript = request.url === '/app-bridge.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : PAGE);
  });
  const card = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.setHeader('Content-Security-Policy', CARD_POLICY);
    response.end(html);
  });
  const [hosting, showing] = await Promise.all([listenOnLoopback(host), listenOnLoopback(card)]);
  return {
    address: `http://${hosting.host}/`,
    card: `http://${showing.host}/`,
    close: async () => {
      await Promise.all([hosting.close(), showing.close()]);
    },
  };
}
