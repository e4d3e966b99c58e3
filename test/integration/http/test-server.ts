/** Starts the HTTP app on a real socket, with a task service that the test scripts. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { z } from 'zod';
import { AbortScope } from '../../../shared/runtime/abort.ts';
import { createLogger, type Logger } from '../../../shared/runtime/logging.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';
import { createApp } from '../../../a2a-server/startup/app.ts';
import type { StreamEndReason } from '../../../a2a-server/http/routes/admit-requests.ts';
import { type LoadSheddingParts, withLoadShedding } from '../../../a2a-server/http/routes/load-shedding.ts';
import { answerInOrder } from '../../../a2a-server/http/streams/answer-in-order.ts';
import { OpenRequestLimiter } from '../../../a2a-server/limits/open-request-limiter.ts';
import type { AppOptions } from '../../../a2a-server/startup/app.ts';
import type { AuthenticateJwt } from '../../../a2a-server/access/oidc-tokens.ts';
import { oidcSchema, type OidcSettings } from '../../../a2a-server/access/oidc-settings.ts';
import type { ProviderSignIn } from '../../../a2a-server/page/provider-sign-in.ts';
import { agentCard } from '../../../a2a-server/http/routes/agent-card.ts';
import { createStreamTickets } from '../../../a2a-server/http/auth/stream-ticket.ts';
import { createAuthenticator } from '../../../a2a-server/http/auth/tokens.ts';
import { pageCookieAttributes } from '../../../a2a-server/page/page-request-secrets.ts';
import { TaskChangeNotifier } from '../../../a2a-server/page/task-change-notifier.ts';
import { PushConfigurations } from '../../../a2a-server/push/push-configurations.ts';
import { openPasskeys } from '../../../a2a-server/startup/open-passkeys.ts';
import { IGNORE_DISCONNECTS } from '../../../a2a-server/http/streams/on-disconnect.ts';
import { createPageSessions } from '../../../a2a-server/page/page-sessions.ts';
import { cleanUpLater } from '../../support/clean-up.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryRecords } from '../../support/memory-records.ts';
import { NO_ISSUED_TOKENS } from '../../support/no-issued-tokens.ts';
import { pushParts, unused } from '../../support/push-parts.ts';
import { ScriptedTasks } from './scripted-tasks.ts';

export const TOKEN = 'local-token-0123456789-abcdef';
/** Tokens of two principals of the tenant `acme`. */
export const ANN_TOKEN = 'acme-ann-token-0123456789-abcdef';
export const BOB_TOKEN = 'acme-bob-token-0123456789-abcdef';
export const OTHER_TOKEN = 'other-token-0123456789-abcdef';

export interface TestServer {
  url: string;
  port: number;
  app: Express;
  tasks: ScriptedTasks;
  /** The clock for the expiry of tickets. */
  clock: FakeClock;
  reading: AbortScope<StreamEndReason>;
  /** Returns the whole log so far, as text. */
  logged: () => string;
  /** Resolves when a request is closed for this reason. */
  closedFor: (reason: StreamEndReason | 'answered') => Promise<void>;
  setClosing: (closing: boolean) => void;
  /** Closes every connection. */
  cut: () => void;
  close: () => Promise<void>;
}

export interface OpenedServer {
  url: string;
  clock: FakeClock;
  log: Logger;
}

export interface Provided {
  settings: OidcSettings;
  signIn: ProviderSignIn;
}

/** Tests verify the tokens of this provider themselves. */
const PROVIDER = oidcSchema.parse({
  issuer: 'https://login.example.com',
  audience: 'https://agents.example.com',
  tenant: 'acme',
  roles: [{ claim: 'groups', value: 'developers', roles: ['delegate'] }],
});

const SIGNING_KEY = generateKeyPairSync('ed25519').privateKey;

const onFailure = (error: unknown): void => {
  throw error;
};

/** Starts a server. It closes after the test, or after the file if a `beforeAll` started it. */
export async function startServer(
  overrides: Partial<
    Pick<
      AppOptions,
      | 'heartbeatMs'
      | 'limits'
      | 'allowedHosts'
      | 'issued'
      | 'openRequests'
      | 'tasks'
      | 'draftProtocols'
      | 'measured'
      | 'passkeys'
      | 'push'
    >
  > & {
    clock?: FakeClock;
    /** The queue whose load the server sheds. By default, the server sheds none. */
    shedding?: Pick<LoadSheddingParts, 'slots' | 'isKnown'> &
      Partial<Pick<LoadSheddingParts, 'authenticate'>>;
    verifyJwt?: AuthenticateJwt;
    /** Opens the page's sign-in with a provider, when the server has its address. */
    openProvider?: (server: OpenedServer) => Promise<Provided>;
  } = {},
): Promise<TestServer> {
  const tasks = new ScriptedTasks();
  const { clock = new FakeClock(), issued = NO_ISSUED_TOKENS } = overrides;
  const credentials = [
    { principal: 'local', token: TOKEN },
    { principal: 'other', token: OTHER_TOKEN },
    { principal: 'acme/ann', token: ANN_TOKEN },
    { principal: 'acme/bob', token: BOB_TOKEN },
  ];
  const reading = new AbortScope<StreamEndReason>();
  let logged = '';
  const waiting = new Set<() => void>();
  let closing = false;
  const records = memoryRecords();
  const server = createServer();
  // As in production, a client that has sent FIN can still read.
  Object.assign(server, { httpAllowHalfOpen: true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = addressOf(server.address());
  const url = `http://127.0.0.1:${port}`;
  const log = createLogger({
    name: 'test',
    level: 'trace',
    destination: {
      write(line) {
        logged += line;
        for (const look of waiting) look();
      },
    },
  });
  const provided = await overrides.openProvider?.({ url, clock, log });
  const provider = provided?.settings ?? (overrides.verifyJwt && PROVIDER);
  const sessions = createPageSessions({
    credentials,
    clock,
    records,
    onFailure,
    issued,
    ...(provider && { provider }),
  });
  const { openRequests = new OpenRequestLimiter(), measured, shedding } = overrides;
  const authenticate = createAuthenticator(credentials, issued, overrides.verifyJwt);
  const allowedHosts = { publicHosts: [], origins: [] };
  const app = createApp({
    tasks,
    card: agentCard(url, '1.2.3', { draftProtocols: overrides.draftProtocols ?? [] }),
    commands: [],
    page: [],
    restoring: {
      checkpoints: { list: unused, find: unused, since: unused, content: unused },
      openWorkspace: unused,
    },
    workspaces: { fallback: null, allowed: [] },
    agent: { agent: '', models: [] },
    changes: new TaskChangeNotifier(),
    passkeys: openPasskeys(records, url, { clock, log, audited: () => Promise.resolve() }),
    issued,
    identity: { token: TOKEN, run: { pid: process.pid, startedAt: new Date().toISOString() } },
    operation: () => ({}),
    disconnects: IGNORE_DISCONNECTS,
    push: new PushConfigurations({ ...pushParts(), tasks, clock, audited: () => Promise.resolve() }),
    pushKeys: { publicKeys: unused },
    servers: () => [],
    draftProtocols: [],
    pageSignIn: { sessions, cookie: pageCookieAttributes(url, TOKEN), base: url },
    signingKey: () => Promise.resolve(SIGNING_KEY),
    authenticate,
    openRequests,
    tickets: createStreamTickets({ secret: TOKEN, credentials, now: () => clock.now(), issued }),
    clock,
    allowedHosts,
    log,
    ...(provided && { pageProvider: { signIn: provided.signIn, secret: TOKEN, clock } }),
    reading,
    phase: () => (closing ? 'closing' : 'open'),
    health: () => ({ journal: 'ok' }),
    ...overrides,
  });
  const listener = shedding
    ? withLoadShedding(app, {
        ...shedding,
        issued,
        authenticate: shedding.authenticate ?? authenticate,
        allowedHosts,
        openRequests,
        log,
        ...(measured && { measured }),
      })
    : app;
  server.on('request', answerInOrder(listener));
  let closed: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    sessions.close();
    reading.abort('server-shutdown');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const close = (): Promise<void> => (closed ??= end());
  cleanUpLater(close);
  return {
    url,
    port,
    app,
    tasks,
    clock,
    reading,
    logged: () => logged,
    closedFor: (reason) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (logged.includes(`"reason":"${reason}"`)) resolve();
        };
        waiting.add(look);
        look();
      }),
    setClosing: (value) => (closing = value),
    cut: () => server.closeAllConnections(),
    close,
  };
}

function addressOf(address: string | AddressInfo | null): AddressInfo {
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return address;
}

export interface RpcAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: unknown;
}

interface Sent {
  method?: string;
  path?: string;
  body?: string | Uint8Array;
  headers?: SentHeaders;
}

export type SentHeaders = Record<string, string | undefined>;

/** Sends a request as A2A 1.0 with the local token. `headers` can replace a header; `undefined` removes it. */
export async function request(server: TestServer, sent: Sent): Promise<RpcAnswer> {
  const headers = new Headers();
  const wanted = {
    authorization: `Bearer ${TOKEN}`,
    'a2a-version': '1.0',
    'content-type': 'application/json',
    ...sent.headers,
  };
  for (const [name, value] of Object.entries(wanted)) if (value !== undefined) headers.set(name, value);
  const response = await fetch(`${server.url}${sent.path ?? '/'}`, {
    method: sent.method ?? 'POST',
    headers,
    ...(sent.body !== undefined && { body: sent.body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parseJson(text) };
}

/** Sends a JSON-RPC call. */
export function rpc(
  server: TestServer,
  method: string,
  params: unknown,
  headers: Record<string, string | undefined> = {},
): Promise<RpcAnswer> {
  return request(server, { body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }), headers });
}

let messages = 0;

/** Returns a message with one text part, or with these parts. */
export function userMessage(content: string | unknown[], more: object = {}) {
  const parts = typeof content === 'string' ? [{ text: content }] : content;
  return { message: { messageId: `message-${++messages}`, role: 'ROLE_USER', parts, ...more } };
}

/** Signs a browser in to the page with a link. @param by the headers with the token. @returns the browser's headers */
export async function signInToPage(server: TestServer, by: SentHeaders): Promise<SentHeaders> {
  const post = (path: string, body: object, headers: SentHeaders): Promise<RpcAnswer> =>
    request(server, { path, body: JSON.stringify(body), headers });
  const { url } = z.object({ url: z.string() }).parse((await post('/page/links', {}, by)).body);
  const code = new URLSearchParams(new URL(url).hash.slice(1)).get('code');
  const answer = await post('/page/session', { code }, { authorization: undefined, origin: server.url });
  const { pageKey } = z.object({ pageKey: z.string() }).parse(answer.body);
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return { authorization: undefined, cookie, 'x-page-key': pageKey };
}
