/**
 * A server proves to a client that it knows the user's token. Neither side sends the token itself (challenge and
 * response with HMAC, RFC 2104).
 *
 * The proof covers the server's address on the connection. So a program at another address cannot relay the proof.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** The path of the challenge. The query parameter `nonce` contains the nonce. */
export const IDENTITY_PATH = '/identity';

/** Matches a nonce: 32 random bytes in base64url. */
export const NONCE_PATTERN = /^[A-Za-z0-9_-]{43}$/;

export const newNonce = (): string => randomBytes(32).toString('base64url');

export interface ServerRunIdentity {
  pid: number;
  /** RFC 3339 */
  startedAt: string;
}

/** The server's end of a connection. */
interface SocketAddress {
  address: string;
  port: number;
}

export const identityAnswer = z.object({
  pid: z.number().int().positive(),
  startedAt: z.string().max(40),
  status: z.enum(['ok', 'closing']),
  proof: z.string().max(100),
});
type IdentityAnswer = z.infer<typeof identityAnswer>;
export type Claim = Omit<IdentityAnswer, 'proof'>;

/** Returns the proof of a claim, for one nonce and one address. */
export function serverProof(
  token: string,
  claim: Claim,
  challenge: SocketAddress & { nonce: string },
): string {
  return mac(token, [
    'mcp-a2a-bridge server identity 1',
    challenge.nonce,
    plainAddress(challenge.address),
    challenge.port,
    claim.pid,
    claim.startedAt,
    claim.status,
  ]);
}

/** Compares two proofs in constant time (X1). */
export function sameProof(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Returns the bearer token that a local client sends. Only this run of the server accepts it. If another program takes
 * the port of a killed server, it receives a token that no server accepts.
 */
export function runCredential(token: string, { pid, startedAt }: ServerRunIdentity): string {
  return mac(token, ['mcp-a2a-bridge run credential 1', pid, startedAt]);
}

function mac(token: string, message: readonly (string | number)[]): string {
  return createHmac('sha256', token).update(JSON.stringify(message)).digest('base64url');
}

/** A socket that listens on `::` reports IPv4 addresses as IPv6 (RFC 4291 §2.5.5.2). */
function plainAddress(address: string): string {
  return address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
}
