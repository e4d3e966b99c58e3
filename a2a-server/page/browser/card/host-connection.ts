/**
 * The card's connection to the MCP host that shows it: JSON-RPC 2.0 over postMessage (MCP Apps, specification
 * 2026-01-26). The official library is ten times as large as the card, so this file implements only the few methods
 * that the card uses.
 */
import { fieldOf, isRecord } from '../../../../shared/runtime/record.ts';

const PROTOCOL_VERSION = '2026-01-26';

export interface HostContext {
  theme: 'light' | 'dark' | undefined;
}

export interface HostInitializeResult {
  context: HostContext;
  /** True if the host passes tool calls on to the bridge. */
  callsTools: boolean;
  opensLinks: boolean;
  /** True if the host gives the model a text of the card. */
  updatesModel: boolean;
}

interface HostEvents {
  /** Called with the result of the tool call that the card belongs to. */
  onResult: (structured: unknown) => void;
  onContext: (context: HostContext) => void;
}

type AnswerHandler = (answer: { result: unknown } | { error: Error }) => void;

export class McpAppHostConnection {
  readonly #host: Window;
  readonly #events: HostEvents;
  readonly #waiting = new Map<unknown, AnswerHandler>();
  #lastId = 0;

  constructor(host: Window, events: HostEvents) {
    this.#host = host;
    this.#events = events;
    window.addEventListener('message', (event) => {
      // Any page may post messages to this page. Only the messages of the host are read.
      if (event.source === host) this.#handleMessage(event.data);
    });
  }

  /** Introduces the card. After that, the host sends the result of the tool call. */
  async initialize(): Promise<HostInitializeResult> {
    const result = await this.#request('ui/initialize', {
      protocolVersion: PROTOCOL_VERSION,
      appInfo: { name: 'mcp-a2a-bridge approval card', version: '1' },
      appCapabilities: { availableDisplayModes: ['inline'] },
    });
    this.#notify('ui/notifications/initialized', {});
    const capabilities = fieldOf(result, 'hostCapabilities');
    return {
      context: contextOf(fieldOf(result, 'hostContext')),
      callsTools: isRecord(fieldOf(capabilities, 'serverTools')),
      opensLinks: isRecord(fieldOf(capabilities, 'openLinks')),
      updatesModel: isRecord(fieldOf(capabilities, 'updateModelContext')),
    };
  }

  /** Returns the structured result. @throws Error with the text of the tool's error */
  async callTool(name: string, args: object): Promise<unknown> {
    const result = await this.#request('tools/call', { name, arguments: args });
    if (fieldOf(result, 'isError') === true) throw new Error(textOf(fieldOf(result, 'content')));
    return fieldOf(result, 'structuredContent');
  }

  async openLink(url: string): Promise<void> {
    await this.#request('ui/open-link', { url });
  }

  /** Gives the model a text for its next turn. */
  async updateModel(text: string): Promise<void> {
    await this.#request('ui/update-model-context', { content: [{ type: 'text', text }] });
  }

  /** Reports the size of the card to the host, in CSS pixels. */
  sizeChanged(size: { width: number; height: number }): void {
    this.#notify('ui/notifications/size-changed', size);
  }

  #request(method: string, params: object): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, (given) => ('error' in given ? reject(given.error) : resolve(given.result)));
    });
    this.#post({ id, method, params });
    return answer;
  }

  #notify(method: string, params: object): void {
    this.#post({ method, params });
  }

  #post(message: object): void {
    // The card does not know the origin of its host, so any origin may receive its messages. This reveals nothing: a
    // secret in a message, such as the code of a decision, came from this host.
    this.#host.postMessage({ jsonrpc: '2.0', ...message }, '*');
  }

  #handleMessage(message: unknown): void {
    const id = fieldOf(message, 'id');
    const method = fieldOf(message, 'method');
    const params = fieldOf(message, 'params');
    if (method === undefined) return this.#settleRequest(id, message);
    if (method === 'ui/notifications/tool-result')
      return this.#events.onResult(fieldOf(params, 'structuredContent'));
    if (method === 'ui/notifications/host-context-changed') return this.#events.onContext(contextOf(params));
    // The host may end the card at once, because the bridge has all state. With `ping`, the host checks that the card
    // runs.
    if (method === 'ui/resource-teardown' || method === 'ping') return this.#post({ id, result: {} });
    if (id !== undefined) this.#post({ id, error: { code: -32601, message: 'Method not found' } });
  }

  #settleRequest(id: unknown, message: unknown): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    const error = fieldOf(message, 'error');
    if (error === undefined) return waiting?.({ result: fieldOf(message, 'result') });
    const why = fieldOf(error, 'message');
    waiting?.({ error: new Error(typeof why === 'string' ? why : 'The host refused the request.') });
  }
}

function contextOf(context: unknown): HostContext {
  const theme = fieldOf(context, 'theme');
  return { theme: theme === 'light' || theme === 'dark' ? theme : undefined };
}

function textOf(content: unknown): string {
  const texts = (Array.isArray(content) ? content : []).map((block: unknown) => fieldOf(block, 'text'));
  return texts.filter((text) => typeof text === 'string').join('\n') || 'The tool failed without a message.';
}
