/**
 * Stream tickets. A ticket allows its holder only to read the events of one task, for an hour. An EventSource cannot
 * send custom headers, so its credential must be in the URL. A bearer token must not be in a URL (RFC 6750 §5.3).
 *
 * - Stateless: a ticket is its expiry and a MAC over purpose, principal, task and expiry. It stays valid after a
 *   restart.
 * - The key depends on the server's token and the principal's tokens. A program needs both tokens to make a ticket. A
 *   ticket does not help to guess the tokens. If a token changes, its tickets become invalid.
 * - X1: the server compares tickets in constant time and never logs them.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Credential } from './tokens.ts';

/** The lifetime of a ticket in milliseconds. */
export const TICKET_MS = 60 * 60_000;

const PURPOSE = 'mcp-a2a-bridge stream ticket 1';

interface Ticket {
  ticket: string;
  /** In milliseconds since the epoch. */
  expiresAt: number;
}

export interface StreamTickets {
  issue(principal: string, taskId: string): Ticket;
  /** @throws ProductError UNAUTHENTICATED if the ticket is not valid for this task, or has expired. */
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
      if (key === undefined) throw new Error('the principal of a ticket has no token');
      const seconds = String(Math.floor((now() + TICKET_MS) / 1_000));
      const mac = seal(key, principal, taskId, seconds).toString();
      return { ticket: `${seconds}.${mac}`, expiresAt: Number(seconds) * 1_000 };
    },
    redeem(ticket, taskId) {
      const [, seconds = '0', mac = ''] = /^(\d{1,12})\.([A-Za-z0-9_-]{43})$/.exec(ticket) ?? [];
      const shown = Buffer.from(mac.padEnd(43));
      let principal: string | undefined;
      // Tries every key, so that the time does not depend on the match. The comparison of the texts is exact, because
      // each MAC has only one text.
      for (const [name, key] of keys)
        if (timingSafeEqual(seal(key, name, taskId, seconds), shown)) principal = name;
      const expiresAt = Number(seconds) * 1_000;
      if (principal === undefined || expiresAt <= now())
        throw new ProductError(
          'UNAUTHENTICATED',
          'This ticket is not valid for this task, or has expired. To get a new one, send POST to this path plus "/ticket", with the bearer token.',
        );
      return { principal, expiresAt };
    },
  };
}

/** Returns the MAC as text. */
function seal(key: Buffer, principal: string, taskId: string, seconds: string): Buffer {
  const sealed = JSON.stringify([PURPOSE, principal, taskId, seconds]);
  return Buffer.from(createHmac('sha256', key).update(sealed).digest('base64url'));
}
