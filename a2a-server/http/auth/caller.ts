/** The authenticated sender of a request. Routes get the identity only from this class. */
import type { Request } from 'express';
import type { User } from '@a2a-js/sdk/server';
import { ProductError } from '../../../shared/runtime/errors.ts';

/**
 * How a client stopped reading. `left`: the client closed the connection, or the server closed a stream that reached its
 * maximum lifetime. `over`: any other end, such as a complete answer or a shutdown.
 */
export type ReaderEnd = 'left' | 'over';

/** The ids of a request. The log line of its end contains them. */
interface RequestFacts {
  /** The JSON-RPC method. */
  operation?: string;
  taskId?: string;
  sessionId?: string;
  toolId?: string;
}

/** The maximum length of a fact in the log, in characters. Clients choose these texts. */
const LONGEST_FACT = 200;

/** A principal and the lifetime of its connection. */
export class Caller implements User {
  readonly isAuthenticated = true;
  readonly principal: string;
  /**
   * Aborts when the client disconnects or the server shuts down. The signal only ends the reading of events. Its abort
   * stops no tool (E4).
   */
  readonly signal: AbortSignal;
  /** Returns the way in which this client stopped reading. Call it after the last write. */
  readonly end: () => ReaderEnd;
  /** @returns a promise to await before the next write (S3). Undefined if the client's socket is not full. */
  readonly full: () => Promise<void> | undefined;
  /** Aborts the signal after `ms` milliseconds, unless the response has ended by then. */
  readonly endAfter: (ms: number) => void;
  readonly #about: RequestFacts = {};

  constructor({ principal, signal, end, full, endAfter }: CallerParts) {
    this.principal = principal;
    this.signal = signal;
    this.end = end;
    this.full = full;
    this.endAfter = endAfter;
  }

  get userName(): string {
    return this.principal;
  }

  get about(): Readonly<RequestFacts> {
    return this.#about;
  }

  /** Adds to `about`. Later facts replace earlier ones. */
  concerns(facts: RequestFacts): void {
    for (const [name, text] of Object.entries(facts))
      Object.assign(this.#about, { [name]: text.slice(0, LONGEST_FACT) });
  }
}

type CallerParts = Pick<Caller, 'principal' | 'signal' | 'end' | 'full' | 'endAfter'>;

const callers = new WeakMap<Request, Caller>();

export function attachCaller(request: Request, caller: Caller): void {
  callers.set(request, caller);
}

/** @throws ProductError UNAUTHENTICATED for an unauthenticated request, even if the route forgets the check (X1). */
export function callerOf(request: Request): Caller {
  const caller = callers.get(request);
  if (caller === undefined)
    throw new ProductError('UNAUTHENTICATED', 'This request is not authenticated. Send a bearer token.');
  return caller;
}
