/**
 * The proof with which a server shows a client that it knows the user's token. Neither side sends the token itself
 * (challenge and response with HMAC, RFC 2104).
 *
 * The proof covers the server's address on the connection. So a program at another address cannot relay the proof.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** The path of the request for a proof. The query parameter `nonce` contains the challenge. */
export const IDENTITY_PATH = '/identity';

/** Matches a nonce: 32 random bytes in base64url. */
export const NONCE_PATTERN = /^[A-Za-z0-9_-]{43}$/;

export const newNonce = (): string => randomBytes(32).toString('base64url');

export interface ServerRunIdentity {
  pid: number;
  /** The start time of the server in RFC 3339. */
  startedAt: string;
}

/** The server's address and port of one connection. */
interface SocketAddress {
  address: string;
  port: number;
}

export const identityAnswerSchema = z.object({
  pid: z.number().int().positive(),
  startedAt: z.string().max(40),
  status: z.enum(['ok', 'closing']),
  proof: z.string().max(100),
});
type IdentityAnswer = z.infer<typeof identityAnswerSchema>;
export type IdentityClaim = Omit<IdentityAnswer, 'proof'>;

/** Returns the proof of a server's claim (its pid and start time), for one nonce and one address. */
export function serverProof(
  token: string,
  claim: IdentityClaim,
  challenge: SocketAddress & { nonce: string },
): string {
  return computeHmac(token, [
    'mcp-a2a-bridge server identity 1',
    challenge.nonce,
    plainAddress(challenge.address),
    challenge.port,
    claim.pid,
    claim.startedAt,
    claim.status,
  ]);
}

/** Compares two proofs. X1: the comparison takes constant time, so its duration reveals nothing about the proof. */
export function isSameProof(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Returns the bearer token that a local client sends to one run of the server. Other runs reject it. If another program
 * takes the port of a killed server and receives this token, it cannot use the token anywhere.
 */
export function serverRunCredential(token: string, { pid, startedAt }: ServerRunIdentity): string {
  return computeHmac(token, ['mcp-a2a-bridge run credential 1', pid, startedAt]);
}

function computeHmac(token: string, message: readonly (string | number)[]): string {
  return createHmac('sha256', token).update(JSON.stringify(message)).digest('base64url');
}

/**
 * Converts an IPv4 address in IPv6 form to plain IPv4. A socket that listens on `::` reports the IPv6 form (RFC 4291
 * §2.5.5.2).
 */
function plainAddress(address: string): string {
  return address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
}
