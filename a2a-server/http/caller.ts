/** Who sent a request, once the door has let it in. Routes get at nothing else of the request's identity. */
import type { Request } from 'express';
import type { User } from '@a2a-js/sdk/server';
import { ProductError } from '../../shared/errors.ts';

/** A principal, and how long they listen. */
export class Caller implements User {
  readonly isAuthenticated = true;
  readonly principal: string;
  /**
   * Aborts when the client has gone or the server shuts down: it ends reading, and nothing else. It is no ancestor of
   * any tool's signal (E4).
   */
  readonly signal: AbortSignal;
  /** @returns what to wait for before writing more to them, when their socket is full (S3). */
  readonly full: () => Promise<void> | undefined;

  constructor({ principal, signal, full }: Pick<Caller, 'principal' | 'signal' | 'full'>) {
    this.principal = principal;
    this.signal = signal;
    this.full = full;
  }

  get userName(): string {
    return this.principal;
  }
}

const callers = new WeakMap<Request, Caller>();

export function admit(request: Request, caller: Caller): void {
  callers.set(request, caller);
}

/** @throws ProductError UNAUTHENTICATED where nobody was admitted: a route mounted before the door stays shut (X1). */
export function callerOf(request: Request): Caller {
  const caller = callers.get(request);
  if (caller === undefined) throw new ProductError('UNAUTHENTICATED', 'This request was not authenticated.');
  return caller;
}
