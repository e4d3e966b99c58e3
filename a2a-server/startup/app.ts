/**
 * Builds the server's routes and their access checks. X1: no access without a credential. Each route checks Host and
 * Origin. Each route requires a bearer token, with these exceptions:
 * - The agent card and the approval page's files contain no data.
 * - The identity route proves that the server knows the token.
 * - The metrics have tokens of their own.
 * - The events of a task also accept a ticket.
 * - The routes below `/page` use the approval page's sign-in.
 */
import type { KeyObject } from 'node:crypto';
import express, { Router } from 'express';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import type { AgentCard } from '@a2a-js/sdk';
import type { AbortScope } from '../../shared/runtime/abort.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { isLimitRefusal, ProductError } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { readTraceContext, traceIds } from '../../shared/net/trace-context.ts';
import type { ToolServerView } from '../../shared/protocol/tool-approval.ts';
import type { OfferedCommand } from '../../shared/protocol/agent-command.ts';
import type { RestorePreviewOptions } from '../checkpoints/restore-preview.ts';
import type { TaskService } from '../executor/task-service.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import { attachCaller, Caller, type ReaderEnd } from '../http/auth/caller.ts';
import { addressPattern, allowedMethods, needOf, PAGE_API } from '../http/routes/allowed-methods.ts';
import { checkpointRoutes } from '../http/routes/checkpoint-routes.ts';
import { cardRoute } from '../http/routes/card-route.ts';
import { costRoute } from '../http/routes/cost-route.ts';
import { commandRoutes } from '../http/routes/command-routes.ts';
import { failingReceiversRoute } from '../http/push/failing-receivers-route.ts';
import { pushKeysRoute } from '../http/push/push-keys-route.ts';
import type { NotificationSigner } from '../push/notification-signer.ts';
import type { PushNotificationConfigs } from '../push/push-notification-configs.ts';
import { STALLED_HEARTBEATS, untilDrained } from '../http/streams/drained.ts';
import { httpStatusOf, sendError } from '../http/routes/error-response.ts';
import {
  EVENTS_PATH,
  eventsRoute,
  taskIdOf,
  ticketParameter,
  ticketRoute,
} from '../http/routes/events-route.ts';
import { DEFAULT_BODY_LIMITS, requestError } from '../http/wire/json-body.ts';
import type { BodyLimits } from '../http/wire/json-body.ts';
import { fileRoute } from '../http/routes/file-route.ts';
import { type NotReadyReason, probeRoutes } from '../http/routes/probe-routes.ts';
import { inputSchemaRoute } from '../http/routes/input-schema-route.ts';
import type { MeasuredRequests } from '../http/routes/measured-requests.ts';
import { type MetricsAccess, metricsRoute } from '../http/routes/metrics-route.ts';
import { receiptRoute } from '../http/routes/receipt-route.ts';
import { identityRoute } from '../http/routes/identity-route.ts';
import type { ServerIdentity } from '../http/routes/identity-route.ts';
import { type BindingOptions, jsonRpcRoute } from '../http/routes/json-rpc-route.ts';
import { legacyRestRoute } from '../http/routes/legacy-rest-route.ts';
import { a2aVersionOf, versionParameter } from '../http/wire/json-rpc-envelope.ts';
import { checkHostAndOrigin } from '../http/auth/origin-check.ts';
import type { AllowedHostsAndOrigins } from '../http/auth/origin-check.ts';
import { cors } from '../http/auth/cors.ts';
import { createRequestHandler } from '../http/routes/request-handler.ts';
import { checkTenantPath, tenantPath } from '../http/routes/requested-tenant.ts';
import { restRoute } from '../http/routes/rest-route.ts';
import type { Preview } from '../http/wire/draft-protocols.ts';
import type { Disconnects } from '../http/streams/disconnects.ts';
import { HEARTBEAT_MS } from '../http/streams/sse.ts';
import type { StreamTickets } from '../http/auth/stream-ticket.ts';
import type { Authenticate } from '../http/auth/tokens.ts';
import { taskSearchRoute } from '../http/routes/task-search-route.ts';
import { storyRoute } from '../http/routes/story-route.ts';
import { toolRoutes } from '../http/routes/tool-execution-routes.ts';
import type { Traces } from '../telemetry/traces.ts';
import { pageRoute } from '../page/page-route.ts';
import type { Page } from '../page/page-route.ts';
import { TaskChanges } from '../page/task-changes.ts';
import { taskChangesRoute } from '../page/task-changes-route.ts';
import { taskGroupsRoute } from '../page/task-groups-route.ts';
import { passkeyRoutes, type PagePasskeys } from '../page/passkey-routes.ts';
import { linkRoute, signedIn, signInRoutes } from '../page/page-sign-in.ts';
import type { PageSignIn } from '../page/page-sign-in.ts';
import type { Identity } from '../access/identity.ts';
import { expiryOf } from '../access/issued-token.ts';
import { type IssuedTokens, NO_ISSUED_TOKENS } from '../access/issued-tokens.ts';
import { requireRole, ROLES } from '../access/role.ts';
import { agentRoute } from '../page/agent-route.ts';
import { OpenRequests } from '../limits/open-requests.ts';
import type { OfferedAgent } from '../../shared/protocol/offered-agent.ts';
import { allowedWorkspacesRoute } from '../page/allowed-workspaces-route.ts';
import type { AllowedWorkspaces } from '../page/allowed-workspaces-route.ts';

export type StreamEndReason =
  'client-gone' | 'server-shutdown' | 'access-expired' | 'signed-out' | 'token-revoked' | 'lifetime-over';

export interface AppOptions {
  tasks: TaskService;
  card: AgentCard;
  commands: readonly OfferedCommand[];
  page: Page;
  /** Previews the restoration of a checkpoint. By default, there is no preview. */
  restoring?: RestorePreviewOptions;
  /** The workspaces that the page offers. By default, there are none. */
  workspaces?: AllowedWorkspaces;
  /**
   * The agent and the models that the page offers. By default, the agent has no name and there are no models to choose.
   */
  agent?: OfferedAgent;
  /** The changes that the page's task list follows. By default, there are none. */
  changes?: TaskChanges;
  pageSignIn: PageSignIn;
  /** The passkeys of the page. By default, the page has no passkeys. */
  passkeys?: PagePasskeys;
  /** Returns the private key that signs receipts. */
  signingKey: () => Promise<KeyObject>;
  authenticate: Authenticate;
  /** The tokens that operators issue. By default, there are none. */
  issued?: IssuedTokens;
  /** The token and the run of this server. Without them, the server cannot prove its identity to a local client. */
  identity?: ServerIdentity;
  tickets: StreamTickets;
  clock: Clock;
  reach: AllowedHostsAndOrigins;
  log: Logger;
  /**
   * Returns the content of `GET /health`, which requires a token. If the journal is not reachable, the status is 503.
   */
  health: () => { journal?: 'ok' | 'unreachable' };
  /** Limits the open requests and streams. By default, the default limits apply. */
  openRequests?: OpenRequests;
  /** Measures each request. By default, nothing is measured. */
  measured?: MeasuredRequests;
  /** Records a span for each request with a caller. By default, nothing is recorded. */
  traces?: Traces;
  /** Access to the route `/metrics`. By default, the route does not exist. */
  metrics?: MetricsAccess;
  /** Decides what happens to the tasks of disconnected clients. By default, nothing happens. */
  disconnects?: Disconnects;
  /** The push notification configurations. Absent if the server sends no push notifications. */
  push?: PushNotificationConfigs;
  pushKeys?: Pick<NotificationSigner, 'publicKeys'>;
  servers?: () => readonly ToolServerView[];
  /** The previews that the server offers. By default, there are none. */
  previews?: readonly Preview[];
  /** The server aborts this scope to end open streams. */
  reading: AbortScope<StreamEndReason>;
  phase: () => ServingPhase;
  limits?: BodyLimits;
  heartbeatMs?: number;
}

/**
 * - `draining`: the server accepts requests, but `/readyz` answers 503, so that a load balancer sends it no more.
 * - `closing`: the server refuses new requests with 503. Open requests still finish.
 */
export type ServingPhase = 'open' | 'draining' | 'closing';

type Options = AppOptions & { openRequests: OpenRequests };

export function createApp(given: AppOptions): Express {
  const options: Options = { ...given, openRequests: given.openRequests ?? new OpenRequests() };
  const closing = isClosing(options);
  const { tasks, card, log, tickets, limits = DEFAULT_BODY_LIMITS, heartbeatMs = HEARTBEAT_MS } = options;
  const binding: BindingOptions = {
    handler: createRequestHandler(tasks, card, options),
    card,
    limits,
    heartbeatMs,
    log,
    previews: options.previews,
  };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // The simple parser creates no nested objects from query parameters.
  app.set('query parser', 'simple');

  app.use(probeRoutes(() => notReadyReasons(options)));
  if (options.measured) app.use(options.measured.middleware);
  app.use(versionParameter, reachable(options.reach), cors);
  const otherRoutes = publicAndPageRoutes(options, binding);
  // Most requests are for JSON-RPC. They skip these routes, so that a refusal by a limit costs little.
  app.use((request, response, next) => {
    if (isForJsonRpc(request)) next();
    else otherRoutes(request, response, next);
  });
  app.use(tenantPath, identified(byToken(options), options), checkTenantPath);
  app.get('/health', (_request, response) => {
    const health = options.health();
    const status = closing() ? 'closing' : health.journal === 'unreachable' ? 'unavailable' : 'ok';
    response.status(status === 'unavailable' ? 503 : 200).json({ status, ...health });
  });
  app.use(openForWork(closing));
  // This route is the first of its group, because most requests are for it.
  app.use(jsonRpcRoute(binding));
  app.use(ticketRoute(tasks, tickets));
  app.use(linkRoute(tasks, options.pageSignIn));
  app.use(toolRoutes(tasks, { limits, log }));
  app.use(costRoute(tasks));
  app.use(fileRoute(tasks));
  app.use(receiptRoute(tasks, options.signingKey));
  app.use(storyRoute(tasks));
  app.use(inputSchemaRoute(tasks));
  app.use(checkpointRoutes(tasks, options.restoring));
  app.use(taskSearchRoute(tasks));
  app.use(commandRoutes(options.commands));
  if (options.push) app.use(failingReceiversRoute(options.push));
  app.use(restRoute(binding));
  app.use(legacyRestRoute(binding));
  app.use(noSuchAddress);
  app.use(failed(limits, log));
  return app;
}

function isForJsonRpc({ method, path }: Request): boolean {
  return method === 'POST' && path === '/';
}

/** The routes that everybody may use, the events of a task (a ticket is enough), and the page's routes. */
function publicAndPageRoutes(options: Options, binding: BindingOptions): Router {
  const { tasks, card, log, tickets } = options;
  const { limits, heartbeatMs } = binding;
  const closing = isClosing(options);
  const router = Router();
  router.use(cardRoute(card, options.clock.now()));
  if (options.pushKeys) router.use(pushKeysRoute(options.pushKeys));
  if (options.metrics) router.use(metricsRoute(options.metrics));
  if (options.identity) router.use(identityRoute(options.identity, closing));
  router.use(pageRoute(options.page));
  router.use(signInRoutes(options.pageSignIn));
  const byTicket: Identify = (request) => {
    const ticket = ticketParameter(request);
    return ticket === undefined ? byToken(options)(request) : tickets.redeem(ticket, taskIdOf(request));
  };
  // Only this route accepts a ticket.
  router.get(
    EVENTS_PATH,
    identified(byTicket, options),
    eventsRoute(tasks, { heartbeatMs, log, disconnects: options.disconnects }),
  );
  // The page may use only tasks, their list, checkpoints, receipts and stories, schemas, messages, tool executions,
  // files, costs, the agent, the workspaces, and its passkeys.
  router.use(
    PAGE_API,
    identified((request) => signedIn(request, options.pageSignIn), options),
    openForWork(closing),
    toolRoutes(tasks, { limits, log }),
    costRoute(tasks),
    fileRoute(tasks),
    receiptRoute(tasks, options.signingKey),
    storyRoute(tasks),
    inputSchemaRoute(tasks),
    checkpointRoutes(tasks, options.restoring),
    agentRoute(options.agent ?? { agent: '', models: [] }),
    allowedWorkspacesRoute(options.workspaces ?? { fallback: null, allowed: [] }),
    taskGroupsRoute(tasks),
    taskChangesRoute({
      tasks,
      heartbeatMs,
      clock: options.clock,
      changes: options.changes ?? new TaskChanges(),
    }),
    ...(options.passkeys
      ? [passkeyRoutes({ tasks, sessions: options.pageSignIn.sessions, ...options.passkeys })]
      : []),
    restRoute(binding),
    noSuchAddress,
  );
  return router;
}

function byToken({ authenticate }: AppOptions): Identify {
  return (request) => authenticate(request.headers.authorization);
}

function isClosing({ phase }: AppOptions): () => boolean {
  return () => phase() === 'closing';
}

function notReadyReasons({ phase, health }: AppOptions): NotReadyReason[] {
  return [
    ...(phase() === 'open' ? [] : ['closing' as const]),
    ...(health().journal === 'unreachable' ? ['journal-unreachable' as const] : []),
  ];
}

function reachable(reach: AllowedHostsAndOrigins): RequestHandler {
  return (request, _response, next) => {
    checkHostAndOrigin(request.headers.host, request.headers.origin, reach);
    next();
  };
}

/** An admitted caller, and the end of the caller's access. */
interface Admission extends Identity {
  /** Calls `act` at sign-out. Returns a function that removes the listener. */
  onSignOut?: (act: () => void) => () => void;
}

type Identify = (request: Request) => Admission | Promise<Admission>;

function identified(identify: Identify, options: Options): RequestHandler {
  const { reading, clock, log, phase, traces, openRequests } = options;
  const { issued = NO_ISSUED_TOKENS, heartbeatMs = HEARTBEAT_MS } = options;
  return async (request, response, next) => {
    const admission = await identify(request);
    const { principal, tokenId, expiresAt, onSignOut } = admission;
    const token = tokenId === undefined ? undefined : await issued.active(tokenId);
    // Nothing is done if the client disconnected while the server read its access.
    if (response.destroyed) return;
    const opened = openRequests.open(principal);
    response.once('close', opened.end);
    const scope = reading.child();
    const since = clock.now();
    const abort = (reason: StreamEndReason) => (): void => void scope.abort(reason);
    // The local token and configured tokens have all roles.
    const roles = tokenId === undefined ? (admission.roles ?? ROLES) : (token?.roles ?? []);
    // The local token and configured tokens have no groups.
    const groups = (tokenId === undefined ? admission.groups : token?.groups) ?? [];
    const ends = [expiresAt, token && expiryOf(token)];
    const stops: ((() => void) | undefined)[] = [
      ...ends.map((at) =>
        at === undefined ? undefined : clock.after(at - clock.now(), abort('access-expired')),
      ),
      onSignOut?.(abort('signed-out')),
      tokenId === undefined ? undefined : issued.onRevoked(tokenId, abort('token-revoked')),
    ];
    const endAfter = (ms: number): void => {
      // After the abort, nothing would cancel the timer, so no timer starts then.
      if (!scope.signal.aborted) stops.push(clock.after(ms, abort('lifetime-over')));
    };
    const end = (): ReaderEnd => {
      const cut = response.destroyed && !response.writableFinished;
      return cut || scope.reason === 'client-gone' || scope.reason === 'lifetime-over' ? 'left' : 'over';
    };
    const full = (): Promise<void> | undefined => untilDrained(response, STALLED_HEARTBEATS * heartbeatMs);
    const sent = readTraceContext(request.headers['traceparent'], request.headers['tracestate']);
    const span = traces?.request(sent);
    const trace = span?.trace ?? sent;
    const path = `${request.baseUrl}${request.path}`;
    const identity: Identity = {
      principal,
      ...(tokenId !== undefined && { tokenId }),
      ...(admission.roles && { roles: admission.roles }),
    };
    const { becomeStream } = opened;
    const caller = new Caller({
      identity,
      roles,
      groups,
      signal: scope.signal,
      end,
      full,
      endAfter,
      trace,
      becomeStream,
    });
    attachCaller(request, caller);
    response.once('close', () => {
      for (const stop of stops) stop?.();
      span?.end({
        method: request.method,
        route: addressPattern(path),
        operation: caller.about.operation,
        status: response.statusCode,
        taskId: caller.about.taskId,
      });
      // A finished response needs no signal. If the response is unfinished, the client has disconnected. E4: a
      // disconnect changes no task.
      if (!response.writableFinished) scope.abort('client-gone');
      log.debug(
        {
          method: request.method,
          // X1: the log must not contain the query, which may be a ticket.
          path: request.originalUrl.split('?', 1)[0],
          status: response.statusCode,
          ...identity,
          ...(trace && { traceId: traceIds(trace).traceId }),
          ...caller.about,
          reason: scope.reason ?? 'answered',
          ms: clock.now() - since,
        },
        'a request is closed',
      );
      scope.close();
    });
    const need = needOf(request.method, path);
    // X1: a route without an entry in the table is closed.
    if (need === undefined) {
      if (phase() === 'closing') throw shuttingDown();
      noSuchAddress(request, response, next);
      return;
    }
    if (need !== 'public') requireRole(roles, need);
    next();
  };
}

function openForWork(closing: () => boolean): RequestHandler {
  return (_request, _response, next) => {
    if (closing()) throw shuttingDown();
    next();
  };
}

function shuttingDown(): ProductError {
  return new ProductError(
    'SHUTTING_DOWN',
    'The server is shutting down; send the same request again in a moment.',
  );
}

const noSuchAddress: RequestHandler = (request, response) => {
  const { version } = a2aVersionOf(request.header('A2A-Version'));
  const path = `${request.baseUrl}${request.path}`;
  const allowed = allowedMethods(path, version);
  const address = visibleLine(path.slice(0, 200));
  if (allowed.length === 0)
    throw new ProductError(
      'UNKNOWN_ADDRESS',
      `There is nothing at ${address}. JSON-RPC is at POST /, HTTP+JSON at /message:send, /message:stream and /tasks, the events of a task at GET /api/tasks/{id}/events.`,
    );
  response.setHeader('Allow', allowed.join(', '));
  throw new ProductError(
    'METHOD_NOT_ALLOWED',
    `${address} takes ${allowed.join(', ')}, not ${request.method}.`,
  );
};

function isShutdown(error: unknown): boolean {
  return error instanceof ProductError && error.reason === 'SHUTTING_DOWN';
}

function failed(limits: BodyLimits, log: Logger): ErrorRequestHandler {
  return (raw: unknown, request: Request, response: Response, _next) => {
    const error = requestError(raw, limits);
    const status = httpStatusOf(error);
    if (status >= 500 && !isLimitRefusal(error) && !isShutdown(error))
      log.error({ err: error, path: request.path }, 'a request failed');
    // A2A 1.0 §13.4: a server logs authentication failures. X1: the log must never contain the credential.
    if (status === 401 || status === 403)
      log.warn(
        { status, method: request.method, path: request.path, from: request.socket.remoteAddress },
        'a request was refused',
      );
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    sendError(request, response, error);
  };
}
