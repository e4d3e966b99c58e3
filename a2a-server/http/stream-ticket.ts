/**
 * Stream tickets: leave to read the events of one task, and nothing else, for an hour. A browser's EventSource sends no
 * header of ours, so that what lets it in has to stand in the address, where a bearer token must never be (RFC 6750 §5.3).
 *
 * - Stateless: a ticket is its expiry and a MAC over purpose, principal, task and expiry. It survives a restart.
 * - The key is made of the server's own token and of the principal's: nobody who has one of the two can make a ticket, a
 *   ticket is no help in guessing either, and whoever changes a token voids the tickets.
 * - X1 compared in constant time, never logged.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ProductError } from '../../shared/errors.ts';
import type { Credential } from './tokens.ts';

/** How long a ticket is good, in milliseconds. */
export const TICKET_MS = 60 * 60_000;

const PURPOSE = 'mcp-a2a-bridge stream ticket 1';

export interface Ticket {
  ticket: string;
  /** In milliseconds since the epoch. */
  expiresAt: number;
}

export interface StreamTickets {
  issue(principal: string, taskId: string): Ticket;
  /** @throws ProductError UNAUTHENTICATED for whatever is no ticket for this task, or is one no more. */
  redeem(ticket: string, taskId: string): { principal: string; expiresAt: number };
}

/** @param now milliseconds since the epoch. */
export function streamTickets(
  serverToken: string,
  credentials: readonly Credential[],
  now: () => number,
): StreamTickets {
  const keys = new Map(
    credentials.map(({ principal }) => {
      const tokens = credentials.filter((it) => it.principal === principal).map(({ token }) => token);
      return [
        principal,
        createHmac('sha256', serverToken)
          .update(JSON.stringify([PURPOSE, tokens]))
          .digest(),
      ];
    }),
  );

  return {
    issue(principal, taskId) {
      const key = keys.get(principal);
      if (key === undefined) throw new Error('a ticket was asked for by a principal who has no token');
      const seconds = String(Math.floor((now() + TICKET_MS) / 1_000));
      const mac = seal(key, principal, taskId, seconds).toString();
      return { ticket: `${seconds}.${mac}`, expiresAt: Number(seconds) * 1_000 };
    },
    redeem(ticket, taskId) {
      const [, seconds = '0', mac = ''] = /^(\d{1,12})\.([A-Za-z0-9_-]{43})$/.exec(ticket) ?? [];
      const shown = Buffer.from(mac.padEnd(43));
      let principal: string | undefined;
      // Every key is tried, whichever fits: the time taken tells nothing. Texts are compared, of which a MAC has one.
      for (const [name, key] of keys)
        if (timingSafeEqual(seal(key, name, taskId, seconds), shown)) principal = name;
      const expiresAt = Number(seconds) * 1_000;
      if (principal === undefined || expiresAt <= now())
        throw new ProductError(
          'UNAUTHENTICATED',
          'This ticket is not one for this task, or its time is over. Ask for another with POST to this path and /ticket, with the bearer token.',
        );
      return { principal, expiresAt };
    },
  };
}

/** The MAC as it is written. */
function seal(key: Buffer, principal: string, taskId: string, seconds: string): Buffer {
  const sealed = JSON.stringify([PURPOSE, principal, taskId, seconds]);
  return Buffer.from(createHmac('sha256', key).update(sealed).digest('base64url'));
}
