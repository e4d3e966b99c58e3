/** What the reader of a document has beside this project: model providers, agents, receivers. They end with the test. */
import { afterEach } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { agentProgram } from '../acp-agent/agent-program.ts';
import { plainAgent } from '../fake-agent-plain.ts';
import { FakeGemini } from '../fake-gemini.ts';
import { localModelServer, ollamaTags } from '../fake-local-models.ts';
import type { Reply } from '../fake-model-endpoint.ts';
import { listenOnLoopback } from '../listen-on-loopback.ts';
import { modelEndpoint } from '../model-stage.ts';
import { NOON_CLOCK } from '../noon-clock.ts';
import { OtlpReceiver } from '../otlp-receiver.ts';
import { startPostgres, whyNoPostgres } from '../postgres-server.ts';
import { PRICED_CALL, PRICED_MODEL, pricedAnswer } from '../priced-model.ts';
import { slowSpeaker } from '../slow-speaker.ts';

export interface Surrounding {
  env?: Readonly<Record<string, string>>;
  programs?: Readonly<Record<string, string>>;
  /** The settings in `config.json`. */
  baseUrls?: Readonly<Record<string, string>>;
  server?: Readonly<Record<string, unknown>>;
  bridge?: Readonly<Record<string, unknown>>;
  /** The text that replaces each example. */
  replace?: Readonly<Record<string, string>>;
  /** Resolves when a program of the reader has used it. */
  used?: Promise<unknown>;
}

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const ANSWER: Reply = { type: 'turn', turn: { text: ['ready'] } };

/**
 * A provider that answers in the wire formats of Anthropic, OpenAI and Ollama: first with these replies, then always with
 * the last one.
 */
async function provider(...replies: Reply[]): Promise<Surrounding> {
  const endpoint = await modelEndpoint();
  endpoint.script(...replies.slice(0, -1));
  endpoint.otherwise(() => replies.at(-1) ?? ANSWER);
  return {
    env: { ANTHROPIC_API_KEY: 'a-key-of-the-reader' },
    baseUrls: { anthropic: endpoint.url, ollama: endpoint.url },
    // The known prices are for the provider's own URL.
    server: { prices: { [PRICED_MODEL]: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 } } },
    replace: { 'https://api.anthropic.com': endpoint.url, 'https://llm.example.com': endpoint.url },
  };
}

/** Ollama with one model, which it lists and does not run. */
async function ollama(): Promise<Surrounding> {
  const { url } = await localModelServer({ '/api/tags': ollamaTags('qwen3:8b') });
  return { baseUrls: { ollama: url } };
}

async function pricedProvider(): Promise<Surrounding> {
  const answers = [pricedAnswer('It is done.', { cacheReadTokens: 2_000 }), pricedAnswer('Hello.')];
  const { env, ...more } = await provider(PRICED_CALL, ...answers);
  const prices = { [PRICED_MODEL]: { input: 300, output: 1_500, cachedInput: 30, cacheWrite: 375 } };
  return { ...more, env: { ...env, ...NOON_CLOCK }, server: { model: PRICED_MODEL, prices } };
}

/** An agent of another team, without an extension. */
async function teamAgent(): Promise<Surrounding> {
  const modes = ['text/plain', 'image/png'];
  const { url, stop } = await plainAgent('1.0', {
    executor: slowSpeaker(),
    card: { name: 'Team coder', version: '2.1', defaultInputModes: modes },
  });
  open.push(stop);
  return { env: { TEAM_TOKEN: 'a token of the reader' }, replace: { 'https://agent.example.com': url } };
}

/** An agent that asks for a name. The bridge uses it. */
async function greeter(): Promise<Surrounding> {
  const { url, stop } = await plainAgent('1.0');
  open.push(stop);
  return { bridge: { agents: { greeter: { url } } } };
}

async function geminiServer(): Promise<Surrounding> {
  const agent = await FakeGemini.start(() => [{ say: 'hi' }]);
  open.push(() => agent.stop());
  return { replace: { 'http://127.0.0.1:41242': agent.url } };
}

/** gemini-cli as an ACP agent. */
async function geminiCli(): Promise<Surrounding> {
  const { command, args } = await agentProgram();
  return { programs: { gemini: `exec ${[command, ...args].map((each) => `'${each}'`).join(' ')} "$@"` } };
}

/** Answers every request with this status and this JSON. */
async function httpServer(status: number, body?: unknown): Promise<{ url: string; used: Promise<unknown> }> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const { host, close } = await listenOnLoopback(server);
  open.push(close);
  return { url: `http://${host}`, used: once(server, 'request') };
}

function entryOfAgent(name: string, description: string, url: string): object {
  return { type: 'application/a2a-agent-card+json', data: { name, description, url } };
}

async function registry(): Promise<Surrounding> {
  const { url, used } = await httpServer(200, {
    specVersion: '1.0',
    entries: [
      entryOfAgent('Finance', 'reads the books and writes reports', 'https://finance.example.com/'),
      entryOfAgent('Travel', 'books trains', 'https://travel.example.com/a2a'),
      { type: 'application/mcp-server+json' },
      { type: 'application/mcp-server+json' },
    ],
  });
  return { replace: { 'https://registry.example.com': url }, used };
}

/** A service that sends messages to a phone. */
async function phone(): Promise<Surrounding> {
  const { url, used } = await httpServer(200);
  return { bridge: { approvalWebhook: { url: `${url}/a-topic-that-nobody-guesses`, format: 'ntfy' } }, used };
}

/** A receiver of push notifications in the reader's own network. It refuses each. */
async function failingReceiver(): Promise<Surrounding> {
  const { url, used } = await httpServer(503);
  return {
    server: { allowPrivateHost: [new URL(url).host] },
    replace: { 'https://client.example.com': url },
    used,
  };
}

async function collector(): Promise<Surrounding> {
  const receiver = await OtlpReceiver.open();
  open.push(() => receiver.close());
  return {
    // By default, a program sends its spans after 5 s.
    env: { OTEL_BSP_SCHEDULE_DELAY: '100' },
    replace: { 'http://127.0.0.1:4318': receiver.url },
    used: receiver.until(({ spans }) => spans[0]),
  };
}

async function postgres(): Promise<Surrounding> {
  const server = await startPostgres();
  open.push(() => server.dispose());
  const url = await server.createDatabase();
  return {
    // The database exists already, under another name.
    programs: { createdb: 'exit 0' },
    replace: { 'postgres://a2a@db.internal/a2a?sslmode=verify-full': url },
  };
}

export const SURROUNDINGS = {
  collector,
  failingReceiver,
  geminiCli,
  geminiServer,
  greeter,
  ollama,
  phone,
  postgres,
  pricedProvider,
  provider: () => provider(),
  registry,
  teamAgent,
} satisfies Readonly<Record<string, () => Promise<Surrounding>>>;

export type SurroundingName = keyof typeof SURROUNDINGS;

/** Why a surrounding cannot be on this machine. */
export const ABSENT_SURROUNDINGS: Readonly<Partial<Record<SurroundingName, string>>> = {
  ...(whyNoPostgres !== undefined && { postgres: whyNoPostgres }),
};
