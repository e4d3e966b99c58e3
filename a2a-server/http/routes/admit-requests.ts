/**
 * Admits requests: finds the caller, checks the caller's role, and counts the request. A stream ends when the caller's
 * access ends.
 */
import type { Request, RequestHandler, Response } from 'express';
import { parseTraceContext, traceIds } from '../../../shared/net/trace-context.ts';
import { watchWritten } from '../../../shared/net/written-response.ts';
import { type AbortScope, onAbort } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { type Identity, rolesOf } from '../../access/identity.ts';
import { expiryOfToken, type IssuedTokenRecord } from '../../access/issued-token.ts';
import type { IssuedTokenReader } from '../../access/issued-token-reader.ts';
import { requireRole } from '../../access/role.ts';
import type { OpenRequestLimiter } from '../../limits/open-request-limiter.ts';
import type { Traces } from '../../telemetry/traces.ts';
import { attachCaller, Caller, senderFactsOf } from '../auth/caller.ts';
import type { UnreadResponses } from '../streams/unread-responses.ts';
import { findRoutePattern, accessRequirementOf } from './methods-and-roles.ts';
import { unknownAddress } from './unknown-address.ts';

export type StreamEndReason =
  | 'client-gone'
  | 'server-shutdown'
  | 'access-expired'
  | 'signed-out'
  | 'token-revoked'
  | 'lifetime-over';

/** An admitted caller. A sign-out may end the caller's access. */
interface AdmittedIdentity extends Identity {
  /** Calls `act` at sign-out. Returns a function that removes the listener. */
  onSignOut?: (act: () => void) => () => void;
}

export type IdentifyCaller = (request: Request) => AdmittedIdentity | Promise<AdmittedIdentity>;

/** The parts of the server that the admission of requests needs. `AppOptions` explains them. */
export interface AdmissionParts {
  reading: AbortScope<StreamEndReason>;
  clock: Clock;
  log: Logger;
  issued: IssuedTokenReader;
  openRequests: OpenRequestLimiter;
  traces?: Traces;
  isClosing: () => boolean;
  unread: UnreadResponses;
}

/** @param identify finds the caller. @throws ProductError UNAUTHENTICATED for a request without valid credentials */
export function admitRequests(identify: IdentifyCaller, parts: AdmissionParts): RequestHandler {
  const { reading, clock, log, issued, openRequests, traces, isClosing, unread } = parts;
  return async (request, response, next) => {
    const admission = await identify(request);
    const { principal, tokenId, expiresAt } = admission;
    const token = tokenId === undefined ? undefined : await issued.active(tokenId);
    // The client may have disconnected while the server checked its credentials.
    if (response.destroyed) return;
    const { end: endRequest, becomeStream, bodyMemory } = openRequests.open(principal);
    response.once('close', endRequest);
    const isWritten = watchWritten(response);
    const scope = reading.child();
    const since = clock.elapsed();
    const stops = abortAtAccessEnd(scope, { admission, token }, parts);
    // X1: if a client loses its access while it sends a body, the server closes the connection. Otherwise the server
    // would handle the complete request.
    stops.push(
      onAbort(scope.signal, () => {
        if (!request.complete) request.destroy();
      }),
    );
    const sent = parseTraceContext(request.headers['traceparent'], request.headers['tracestate']);
    const span = traces?.request(sent);
    const path = `${request.baseUrl}${request.path}`;
    // The local token and configured tokens have no groups.
    const groups = (tokenId === undefined ? admission.groups : token?.groups) ?? [];
    const identity: Identity = {
      principal,
      ...(tokenId !== undefined && { tokenId }),
      ...(expiresAt !== undefined && { expiresAt }),
      // Only a token of an OpenID Connect provider contains roles and groups.
      ...(admission.roles && { roles: admission.roles, groups }),
    };
    const caller = new Caller({
      identity,
      roles: rolesOf(admission, token),
      groups,
      signal: scope.signal,
      end: () => {
        const cut = response.destroyed && !isWritten();
        return cut || scope.reason === 'client-gone' || scope.reason === 'lifetime-over' ? 'left' : 'over';
      },
      whenWritable: () => unread.whenRead(principal, response),
      endAfter: (ms) => {
        // After the response has closed, nothing would cancel a timer. If the client has disconnected, the signal has
        // aborted, so no timer starts.
        if (!scope.signal.aborted) stops.push(clock.after(ms, () => scope.abort('lifetime-over')));
      },
      trace: span?.trace ?? sent,
      becomeStream,
      bodyMemory,
    });
    attachCaller(request, caller);
    // `prefinish` occurs when the server has written the whole response, even if the client has not read all of it.
    response.once('prefinish', () => void unread.whenRead(principal, response));
    response.once('close', () => {
      for (const stop of stops) stop();
      span?.end({
        method: request.method,
        route: findRoutePattern(path),
        operation: caller.facts.operation,
        status: response.statusCode,
        taskId: caller.facts.taskId,
      });
      // If the response is not written completely, the connection was closed too early. The signal then stops the
      // reading for this response. E4: a closed connection changes no task.
      if (!isWritten()) scope.abort('client-gone');
      const ms = Math.round(clock.elapsed() - since);
      const facts = { ...loggedFacts(request, response, caller), reason: scope.reason ?? 'answered', ms };
      log.debug(facts, 'a request is closed');
      scope.close();
    });
    const need = accessRequirementOf(request.method, path);
    // X1: a request to an address that `methods-and-roles.ts` does not list reaches no route.
    if (need === undefined) {
      if (isClosing()) throw shuttingDown();
      unknownAddress(request, response, next);
      return;
    }
    if (need !== 'public') requireRole(caller.roles, need);
    next();
  };
}

/** Aborts the scope when the caller loses its access. Returns functions that remove the timers and the listeners. */
function abortAtAccessEnd(
  scope: AbortScope<StreamEndReason>,
  { admission, token }: { admission: AdmittedIdentity; token: IssuedTokenRecord | undefined },
  { clock, issued }: Pick<AdmissionParts, 'clock' | 'issued'>,
): (() => void)[] {
  const { tokenId, expiresAt, onSignOut } = admission;
  const abort = (reason: StreamEndReason) => (): void => void scope.abort(reason);
  const ends = [expiresAt, token && expiryOfToken(token)].filter((at) => at !== undefined);
  return [
    ...ends.map((at) => clock.after(at - clock.now(), abort('access-expired'))),
    onSignOut?.(abort('signed-out')),
    tokenId === undefined ? undefined : issued.onRevoked(tokenId, abort('token-revoked')),
  ].filter((stop) => stop !== undefined);
}

function loggedFacts(request: Request, response: Response, caller: Caller): object {
  const { trace } = caller;
  return {
    method: request.method,
    // X1: the log must not contain the query, which may be a ticket.
    path: request.originalUrl.split('?', 1)[0],
    status: response.statusCode,
    ...senderFactsOf(caller),
    ...(trace && { traceId: traceIds(trace).traceId }),
    ...caller.facts,
  };
}

/** Refuses requests while the server shuts down. */
export function refuseWhileClosing(isClosing: () => boolean): RequestHandler {
  return (_request, _response, next) => {
    if (isClosing()) throw shuttingDown();
    next();
  };
}

function shuttingDown(): ProductError {
  return new ProductError(
    'SHUTTING_DOWN',
    'The server is shutting down; send the same request again in a moment.',
  );
}
