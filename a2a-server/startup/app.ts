/**
 * Builds the server's routes and their access checks. X1: no access without a credential. Each route checks Host and
 * Origin and requires a bearer token, with these exceptions:
 * - `/livez` and `/readyz` need no token and check no headers. They say only whether the server works.
 * - The agent card, the public keys of push notifications and the approval page's files are not secret.
 * - The identity route proves that the server knows the token.
 * - The metrics have tokens of their own.
 * - The events of a task also accept a ticket.
 * - The routes below `/page` use the approval page's sign-in.
 */
import type { KeyObject } from 'node:crypto';
import express, { Router } from 'express';
import type { Express, RequestHandler } from 'express';
import type { AgentCard } from '@a2a-js/sdk';
import type { AbortScope } from '../../shared/runtime/abort.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { ToolServerView } from '../../shared/protocol/tool-approval.ts';
import type { OfferedCommand } from '../../shared/protocol/agent-command.ts';
import type { RestorePreviewOptions } from '../checkpoints/restore-preview.ts';
import type { TaskService } from '../executor/task-service.ts';
import {
  admitRequests,
  type AdmissionParts,
  type IdentifyCaller,
  refuseWhileClosing,
  type StreamEndReason,
} from '../http/routes/admit-requests.ts';
import { PAGE_API_PATH } from '../http/routes/methods-and-roles.ts';
import { checkpointRoutes } from '../http/routes/checkpoint-routes.ts';
import { agentCardRoute } from '../http/routes/agent-card-route.ts';
import { failingReceiversRoutes, pushKeysRoute } from '../http/push/push-routes.ts';
import type { NotificationSigner } from '../push/notification-signer.ts';
import type { PushConfigurations } from '../push/push-configurations.ts';
import { createErrorHandler } from '../http/routes/error-response.ts';
import {
  EVENTS_PATH,
  createEventsHandler,
  taskIdOf,
  streamTicketParameter,
  streamTicketRoute,
} from '../http/routes/events-route.ts';
import type { OnRefused } from '../limits/concurrency-limiter.ts';
import { DEFAULT_BODY_LIMITS } from '../http/routes/json-body.ts';
import type { BodyLimits } from '../http/routes/json-body.ts';
import { taskDetailRoutes } from '../http/routes/task-detail-routes.ts';
import { type NotReadyReason, probeRoutes } from '../http/routes/probe-routes.ts';
import type { RequestMeasurement } from '../http/routes/request-measurement.ts';
import { type MetricsRouteOptions, metricsRoute } from '../http/routes/metrics-route.ts';
import { serverProofRoute } from '../http/routes/server-proof-route.ts';
import type { ServerIdentity } from '../http/routes/server-proof-route.ts';
import { type A2aBindingOptions, jsonRpcRoute } from '../http/routes/json-rpc-route.ts';
import { unknownAddress } from '../http/routes/unknown-address.ts';
import { legacyRestRoute } from '../http/routes/legacy-rest-route.ts';
import { applyVersionParameter } from '../http/wire/json-rpc-envelope.ts';
import { tenantOf } from '../access/requester.ts';
import { callerOf } from '../http/auth/caller.ts';
import { checkHostAndOrigin } from '../http/auth/host-and-origin-check.ts';
import type { AllowedHostsAndOrigins } from '../http/auth/host-and-origin-check.ts';
import { cors } from '../http/auth/cors.ts';
import { createRequestHandler } from '../http/routes/request-handler.ts';
import { checkTenantPath, stripTenantPath } from '../http/routes/requested-tenant.ts';
import { restRoute } from '../http/routes/rest-route.ts';
import type { ServerDraftProtocol } from '../http/wire/draft-protocols.ts';
import type { DisconnectHandler } from '../http/streams/on-disconnect.ts';
import { HEARTBEAT_MS } from '../http/streams/sse.ts';
import { UnreadResponses } from '../http/streams/unread-responses.ts';
import type { StreamTickets } from '../http/auth/stream-ticket.ts';
import type { Authenticate } from '../http/auth/tokens.ts';
import { taskSearchRoute } from '../http/routes/task-search-route.ts';
import { toolExecutionRoutes } from '../http/routes/tool-execution-routes.ts';
import type { Traces } from '../telemetry/traces.ts';
import { pageRoute } from '../page/page-route.ts';
import type { PageFiles } from '../page/page-route.ts';
import type { TaskChangeNotifier } from '../page/task-change-notifier.ts';
import { taskChangesRoute } from '../page/task-changes-route.ts';
import { taskGroupsRoute } from '../page/task-groups-route.ts';
import { passkeyRoutes, type PagePasskeys } from '../page/passkey-routes.ts';
import { oneTimeLinkRoute, requirePageSession, signInRoutes } from '../page/page-sign-in.ts';
import type { PageSignInContext } from '../page/page-sign-in.ts';
import type { IssuedTokenReader } from '../access/issued-token-reader.ts';
import { type ProviderSignInContext, providerSignInRoutes } from '../page/provider-sign-in-routes.ts';
import type { OpenRequestLimiter } from '../limits/open-request-limiter.ts';
import type { OfferedAgent } from '../../shared/protocol/offered-agent.ts';
import type { WorkspaceChoices } from '../../shared/protocol/workspace-choices.ts';

export interface AppOptions {
  tasks: TaskService;
  card: AgentCard;
  commands: readonly OfferedCommand[];
  page: PageFiles;
  /** Previews the restoration of a checkpoint. */
  restoring: RestorePreviewOptions;
  /** The workspaces that the page offers. */
  workspaces: WorkspaceChoices;
  /** The agent and the models that the page offers. */
  agent: OfferedAgent;
  /** Notifies the page's task list of changed tasks. */
  changes: TaskChangeNotifier;
  pageSignIn: PageSignInContext;
  /** The sign-in to the page with the OpenID Connect provider. By default, the page offers none. */
  pageProvider?: ProviderSignInContext;
  /** The passkeys of the page. */
  passkeys: PagePasskeys;
  /** Returns the private key that signs receipts. */
  signingKey: () => Promise<KeyObject>;
  authenticate: Authenticate;
  /** The tokens that operators issue. */
  issued: IssuedTokenReader;
  /** The token of this server, its pid and its start time. They prove its identity to a local client. */
  identity: ServerIdentity;
  tickets: StreamTickets;
  clock: Clock;
  allowedHosts: AllowedHostsAndOrigins;
  log: Logger;
  /**
   * Returns the content of `GET /health`, which requires a token. If the journal is not reachable, the status is 503.
   */
  health: () => { journal?: 'ok' | 'unreachable' };
  /**
   * Returns the fields that `GET /health` adds for an operator of the whole server: its process, address and state
   * directory, and counts of the work of all principals.
   */
  operation: () => object;
  /** Limits the open requests and streams. */
  openRequests: OpenRequestLimiter;
  /** Called for each response that is closed because of the limit of unread bytes. */
  onRefused?: OnRefused;
  /** Measures each request. By default, nothing is measured. */
  measured?: RequestMeasurement;
  /** Records a span for each request with valid credentials. By default, nothing is recorded. */
  traces?: Traces;
  /** Access to the route `/metrics`. By default, the route does not exist. */
  metrics?: MetricsRouteOptions;
  /** Decides what happens to the tasks of disconnected clients. */
  disconnects: DisconnectHandler;
  push: PushConfigurations;
  pushKeys: Pick<NotificationSigner, 'publicKeys'>;
  servers: () => readonly ToolServerView[];
  /** The draft protocols that the server offers. */
  draftProtocols: readonly ServerDraftProtocol[];
  /** The server aborts this scope to end open streams. */
  reading: AbortScope<StreamEndReason>;
  phase: () => ServingPhase;
  limits?: BodyLimits;
  heartbeatMs?: number;
}

/**
 * - `draining`: the server accepts requests, but `/readyz` answers 503, so that a load balancer sends no more requests.
 * - `closing`: the server refuses new requests with 503. Open requests still finish.
 */
export type ServingPhase = 'open' | 'draining' | 'closing';

export function createApp(options: AppOptions): Express {
  const { tasks, card, log, limits = DEFAULT_BODY_LIMITS, heartbeatMs = HEARTBEAT_MS } = options;
  const isClosing = (): boolean => options.phase() === 'closing';
  const parts: Parts = {
    ...options,
    limits,
    heartbeatMs,
    isClosing,
    unread: new UnreadResponses(heartbeatMs, options.onRefused),
    handler: createRequestHandler(tasks, card, options),
  };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // The simple parser creates no nested objects from query parameters.
  app.set('query parser', 'simple');

  app.use(
    uncached,
    probeRoutes(() => notReadyReasons(options)),
  );
  if (options.measured) app.use(options.measured.middleware);
  app.use(applyVersionParameter, createHostAndOriginCheck(options.allowedHosts), cors);
  app.use(exceptJsonRpcAndOptions(Router().use(publicRoutes(parts), eventsOfTask(parts), pageApi(parts))));
  app.use(stripTenantPath, admitRequests(byToken(options), parts), checkTenantPath);
  app.get('/health', (request, response) => {
    const { roles, principal } = callerOf(request);
    const operates = roles.includes('operate') && tenantOf(principal) === undefined;
    const health = { ...options.health(), ...(operates && options.operation()) };
    const status = isClosing() ? 'closing' : health.journal === 'unreachable' ? 'unavailable' : 'ok';
    response.status(status === 'unavailable' ? 503 : 200).json({ status, ...health });
  });
  app.use(refuseWhileClosing(isClosing));
  // Most requests are for this route, so it comes before the other routes of tasks.
  app.use(jsonRpcRoute(parts));
  app.use(streamTicketRoute(tasks, options.tickets), oneTimeLinkRoute(tasks, options.pageSignIn));
  // A client runs a command with an A2A message, so no route runs one.
  app.use(
    workRoutes(parts),
    taskSearchRoute(tasks),
    jsonRoute('/api/commands', { commands: options.commands }),
    failingReceiversRoutes(options.push),
  );
  app.use(restRoute(parts), legacyRestRoute(parts));
  app.use(unknownAddress);
  app.use(createErrorHandler(log));
  return app;
}

/**
 * X1: answers are private, so no cache may store them. The page's requests have no header Authorization, so caches do
 * not know that the answers are private (RFC 9111 §3.5). The few public answers set another Cache-Control.
 */
const uncached: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-store');
  next();
};

/** The options with their defaults, and what several routes share. */
type Parts = AppOptions & A2aBindingOptions & AdmissionParts;

/**
 * Skips `others` for requests that they do not serve.
 *
 * - Most requests are for JSON-RPC. They skip the routers of `others`, so a refusal by a limit costs little.
 * - A router of Express would answer OPTIONS itself, without a check of the token. Its `Allow` would have only the
 *   methods of that router.
 */
function exceptJsonRpcAndOptions(others: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const { method, path } = request;
    if (method === 'OPTIONS' || (method === 'POST' && path === '/')) next();
    else others(request, response, next);
  };
}

/** The routes that need no token. */
function publicRoutes(parts: Parts): RequestHandler[] {
  const { card, clock, pushKeys, metrics, identity, isClosing, page, pageSignIn, pageProvider } = parts;
  return [
    agentCardRoute(card, clock.now()),
    pushKeysRoute(pushKeys),
    ...(metrics ? [metricsRoute(metrics)] : []),
    serverProofRoute(identity, isClosing),
    pageRoute(page),
    signInRoutes(pageSignIn),
    providerSignInRoutes(pageSignIn, pageProvider),
  ];
}

/** The route of the events of a task. Only this route accepts a ticket instead of a token. */
function eventsOfTask(parts: Parts): Router {
  const { tasks, tickets } = parts;
  const byTicket: IdentifyCaller = (request) => {
    const ticket = streamTicketParameter(request);
    return ticket === undefined ? byToken(parts)(request) : tickets.redeem(ticket, taskIdOf(request));
  };
  return Router().get(EVENTS_PATH, admitRequests(byTicket, parts), createEventsHandler(tasks, parts));
}

/** The routes for the approval page. They accept the session of a signed-in page instead of a token. */
function pageApi(parts: Parts): Router {
  const { tasks, heartbeatMs, clock, changes, pageSignIn, passkeys, isClosing } = parts;
  return Router().use(
    PAGE_API_PATH,
    admitRequests((request) => requirePageSession(request, pageSignIn), parts),
    refuseWhileClosing(isClosing),
    workRoutes(parts),
    // These routes return the models and the workspaces from which the person chooses.
    jsonRoute('/agent', parts.agent),
    jsonRoute('/workspaces', parts.workspaces),
    taskGroupsRoute(tasks, clock),
    taskChangesRoute({ tasks, heartbeatMs, clock, changes }),
    passkeyRoutes({ tasks, sessions: pageSignIn.sessions, ...passkeys }),
    restRoute(parts),
    unknownAddress,
  );
}

/** Returns a route that always sends the same answer. */
function jsonRoute(path: string, answer: object): Router {
  return Router().get(path, (_request, response) => void response.json(answer));
}

/** The routes for work on tasks besides the routes of A2A. The page and other clients use them. */
function workRoutes({ tasks, limits, log, signingKey, restoring }: Parts): RequestHandler[] {
  return [
    toolExecutionRoutes(tasks, { limits, log }),
    taskDetailRoutes(tasks, signingKey),
    checkpointRoutes(tasks, restoring),
  ];
}

function byToken({ authenticate }: AppOptions): IdentifyCaller {
  return (request) => authenticate(request.headers.authorization);
}

function notReadyReasons({ phase, health }: AppOptions): NotReadyReason[] {
  return [
    ...(phase() === 'open' ? [] : ['closing' as const]),
    ...(health().journal === 'unreachable' ? ['journal-unreachable' as const] : []),
  ];
}

function createHostAndOriginCheck(allowed: AllowedHostsAndOrigins): RequestHandler {
  return (request, _response, next) => {
    // RFC 9112 §3.2: a request has one Host header. Node returns only the first of two. A proxy may have checked the
    // second one.
    if ((request.headersDistinct['host']?.length ?? 0) > 1)
      throw new ProductError('MALFORMED', 'The request has more than one Host header. Send one.');
    checkHostAndOrigin(request.headers.host, request.headers.origin, allowed);
    next();
  };
}
