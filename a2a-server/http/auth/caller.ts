import type { Request } from 'express';
import type { User } from '@a2a-js/sdk/server';
import type { TraceContext } from '../../../shared/net/trace-context.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Identity } from '../../access/identity.ts';
import { type Requester, createRequester } from '../../access/requester.ts';
import type { Role } from '../../access/role.ts';
import type { TaskReader } from '../wire/reader-decisions.ts';
import type { BodyMemory } from '../wire/request-body.ts';

/**
 * The reason why a client stopped reading. `left` means that the connection closed before the end of the response, or
 * that the stream reached its maximum lifetime. `over` means any other end, such as a complete response or a shutdown.
 */
export type ReadEndReason = 'left' | 'over';

/** The ids that the log line at the end of a request contains. */
interface RequestFacts {
  operation?: string;
  taskId?: string;
  sessionId?: string;
  toolId?: string;
}

/** The maximum length of an id in a log line. A longer id is cut, because a client may send an id of any length. */
const MAX_FACT_CHARS = 200;

/**
 * The authenticated sender of a request, and the state of its connection. Routes get the principal only from this
 * class.
 */
export class Caller implements User {
  readonly isAuthenticated = true;
  readonly identity: Identity;
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
  /**
   * Aborts when the client disconnects or the server shuts down. The abort ends only the reading of events. E4: it
   * stops no tool.
   */
  readonly signal: AbortSignal;
  /** Returns why this client stopped reading. The route calls this after the last write. */
  readonly end: () => ReadEndReason;
  /**
   * S3: a slow reader must not fill the memory. If the client's socket is full, returns a promise that the writer
   * awaits before the next write. Otherwise returns undefined.
   */
  readonly whenWritable: () => Promise<void> | undefined;
  /** Aborts the signal after `ms` milliseconds, unless the response has ended before. */
  readonly endAfter: (ms: number) => void;
  /** The trace that the request's work belongs to. Undefined if neither the client nor this server has a trace. */
  readonly trace: TraceContext | undefined;
  /**
   * Counts the request as an event stream. The route calls this before the request changes anything.
   * @throws ProductError LIMIT_REACHED, OVERLOADED
   */
  readonly becomeStream: () => void;
  /** Counts the bytes of the request's body until the body is complete. */
  readonly bodyMemory: BodyMemory;
  readonly #about: RequestFacts = {};

  constructor(parts: CallerParts) {
    this.identity = parts.identity;
    this.roles = parts.roles;
    this.groups = parts.groups;
    this.signal = parts.signal;
    this.end = parts.end;
    this.whenWritable = parts.whenWritable;
    this.endAfter = parts.endAfter;
    this.trace = parts.trace;
    this.becomeStream = parts.becomeStream;
    this.bodyMemory = parts.bodyMemory;
  }

  get principal(): string {
    return this.identity.principal;
  }

  /** The principal and the tenant whose tasks this caller may use. */
  get requester(): Requester {
    return createRequester(this.principal, this.roles, this.groups);
  }

  /**
   * The requester, with the roles of its token. The roles determine which decisions the server offers to the requester.
   */
  get reader(): TaskReader {
    return { ...this.requester, roles: this.roles };
  }

  get userName(): string {
    return this.principal;
  }

  get facts(): Readonly<RequestFacts> {
    return this.#about;
  }

  addFacts(facts: RequestFacts): void {
    for (const [name, text] of Object.entries(facts))
      Object.assign(this.#about, { [name]: text.slice(0, MAX_FACT_CHARS) });
  }
}

interface SenderFacts {
  principal: string;
  /** The id of the issued token. Absent for other tokens. */
  tokenId?: string;
}

type CallerParts = Pick<
  Caller,
  | 'identity'
  | 'roles'
  | 'groups'
  | 'signal'
  | 'end'
  | 'whenWritable'
  | 'endAfter'
  | 'trace'
  | 'becomeStream'
  | 'bodyMemory'
>;

const callers = new WeakMap<Request, Caller>();

export function attachCaller(request: Request, caller: Caller): void {
  callers.set(request, caller);
}

/** Returns the sender of an authenticated request, for the log. */
export function senderOf(request: Request): SenderFacts | undefined {
  const caller = callers.get(request);
  return caller && senderFactsOf(caller);
}

/** Returns the principal and the token id of a caller. X1: the id of a token is no secret. */
export function senderFactsOf({ identity: { principal, tokenId } }: Caller): SenderFacts {
  return { principal, ...(tokenId !== undefined && { tokenId }) };
}

/**
 * Returns the counter for the bytes of the request's body. Undefined for a request without a caller, e.g. a sign-in.
 */
export function bodyMemoryOf(request: Request): BodyMemory | undefined {
  return callers.get(request)?.bodyMemory;
}

/** Returns the JSON-RPC method of a request. Undefined for other requests and for unknown methods. */
export function jsonRpcMethodOf(request: Request): string | undefined {
  return callers.get(request)?.facts.operation;
}

/**
 * Returns the caller of a request.
 * @throws ProductError UNAUTHENTICATED if no middleware has authenticated the request (X1: no access without a
 *   credential)
 */
export function callerOf(request: Request): Caller {
  const caller = callers.get(request);
  if (caller === undefined)
    throw new ProductError('UNAUTHENTICATED', 'This request is not authenticated. Send a bearer token.');
  return caller;
}
