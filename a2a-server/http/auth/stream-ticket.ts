/**
 * A stream ticket allows its holder only to read the events of one task, for an hour. An EventSource cannot send custom
 * headers, so its credential must be in the URL. A bearer token must not be in a URL (RFC 6750 §5.3).
 * - A ticket consists of its expiry time and a MAC over purpose, principal, task and expiry. The server stores no
 *   tickets, so a ticket stays valid after a restart.
 * - The key depends on the server's secret and the principal's tokens. If one of these changes, the tickets become
 *   invalid. Servers that share a journal have one secret, so each accepts the tickets of the others. A ticket does not
 *   help to guess a token.
 * - A ticket that a client requested with an issued token contains the id of that token. The ticket ends when the token
 *   ends.
 * - X1: the server compares tickets in constant time and never logs them.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { type Identity, identityOfTokenRecord } from '../../access/identity.ts';
import type { IssuedTokenReader } from '../../access/issued-token-reader.ts';
import { type RecordStore, obtainSharedSecret } from '../../records/record-store.ts';
import type { Credential } from './tokens.ts';

export const STREAM_TICKET_MS = 60 * 60_000;

const PURPOSE = 'mcp-a2a-bridge stream ticket 1';

interface Ticket {
  ticket: string;
  /** The end of the ticket's validity, in milliseconds since 1970. */
  expiresAt: number;
}

export type StreamTickets = ReturnType<typeof createStreamTickets>;

/**
 * Returns the secret for the tickets. Each server derives it from its token. Servers that share records all use the
 * first secret that one of them stored.
 * @param shared absent for a server that shares nothing
 * @throws ProductError STORAGE
 */
export async function obtainTicketSecret(
  serverToken: string,
  shared: RecordStore | undefined,
): Promise<string> {
  const own = createHmac('sha256', serverToken).update(PURPOSE).digest('hex');
  return shared === undefined ? own : obtainSharedSecret(shared, 'stream-tickets', own);
}

interface StreamTicketParts {
  /** The secret of this server (see `obtainTicketSecret`). */
  secret: string;
  credentials: readonly Credential[];
  /** Returns milliseconds since 1970. */
  now: () => number;
  issued: Pick<IssuedTokenReader, 'active'>;
}

/** Makes and redeems tickets. */
export function createStreamTickets({ secret, credentials, now, issued }: StreamTicketParts) {
  const keyOf = (tokens: unknown): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify([PURPOSE, tokens]))
      .digest();
  const keys = new Map(
    credentials.map(({ principal }) => {
      const tokens = credentials.filter((it) => it.principal === principal).map(({ token }) => token);
      return [principal, keyOf(tokens)];
    }),
  );
  const issuedKey = async (tokenId: string): Promise<{ principal: string; key: Buffer } | undefined> => {
    const token = await issued.active(tokenId);
    return (
      token && { principal: identityOfTokenRecord(token).principal, key: keyOf({ issued: token.digest }) }
    );
  };

  return {
    async issue({ principal, tokenId, roles }: Identity, taskId: string): Promise<Ticket> {
      if (roles !== undefined)
        throw new ProductError(
          'FORBIDDEN',
          'A token of an OpenID Connect provider makes no stream ticket. Use a token that the operator issued.',
        );
      const key = tokenId === undefined ? keys.get(principal) : (await issuedKey(tokenId))?.key;
      if (key === undefined) throw new Error('the principal of a ticket has no token');
      const seconds = String(Math.floor((now() + STREAM_TICKET_MS) / 1_000));
      const mac = macText(key, { principal, taskId, seconds }).toString();
      const named = tokenId === undefined ? '' : `.${tokenId}`;
      return { ticket: `${seconds}.${mac}${named}`, expiresAt: Number(seconds) * 1_000 };
    },
    /**
     * Returns the identity for which the ticket was created, and the expiry of the ticket.
     * @throws ProductError UNAUTHENTICATED if the ticket is not valid for this task, or has expired
     */
    async redeem(ticket: string, taskId: string): Promise<Identity & { expiresAt: number }> {
      const [, seconds = '0', mac = '', tokenId] =
        /^(\d{1,12})\.([A-Za-z0-9_-]{43})(?:\.([0-9a-f]{12}))?$/.exec(ticket) ?? [];
      const shown = Buffer.from(mac.padEnd(43));
      const maker = tokenId === undefined ? undefined : await issuedKey(tokenId);
      const tried = tokenId === undefined ? [...keys] : maker ? [[maker.principal, maker.key] as const] : [];
      let principal: string | undefined;
      // The loop tries every key, so that its time does not reveal which key matches. It compares the MACs as base64url
      // texts. Two of these texts are equal exactly if the two MACs have the same bytes.
      for (const [name, key] of tried)
        if (timingSafeEqual(macText(key, { principal: name, taskId, seconds }), shown)) principal = name;
      const expiresAt = Number(seconds) * 1_000;
      if (principal === undefined || expiresAt <= now())
        throw new ProductError(
          'UNAUTHENTICATED',
          'This ticket is not valid for this task, or has expired. To get a new one, send POST to this path plus "/ticket", with the bearer token.',
        );
      return { principal, expiresAt, ...(tokenId !== undefined && { tokenId }) };
    },
  };
}

function macText(
  key: Buffer,
  { principal, taskId, seconds }: { principal: string; taskId: string; seconds: string },
): Buffer {
  const sealed = JSON.stringify([PURPOSE, principal, taskId, seconds]);
  return Buffer.from(createHmac('sha256', key).update(sealed).digest('base64url'));
}
