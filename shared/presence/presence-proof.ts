/**
 * A proof of presence: it shows that a person with a passkey made one decision. It contains a WebAuthn assertion whose
 * challenge is the hash of a statement. The statement names the action and the decision. The journal and the receipt
 * keep the proof, so anyone can check it later without the server.
 */
import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import { z } from 'zod';
import { pendingReasonSchema } from '../protocol/call-view.ts';
import { presenceAssertionSchema } from '../protocol/presence-assertion.ts';

/** The decision that the person signs with the passkey. Hashes are SHA-256 (hex). */
const decisionStatementSchema = z.strictObject({
  taskId: z.string(),
  callId: z.string(),
  tool: z.string(),
  /** The code of what the person saw. */
  shown: z.string(),
  /** Why the tool call waited for a person. */
  asked: pendingReasonSchema,
  inputHash: z.string(),
  /** The hash of the content behind the preview, e.g. of the old file of a diff. Null if there is no such content. */
  basis: z.string().nullable(),
  decision: z.enum(['approve', 'edit']),
  /** The input that the person wrote. Null unless the decision is `edit`. */
  edited: z.strictObject({ inputHash: z.string(), basis: z.string().nullable() }).nullable(),
  /** The person's reason, as text for the agent. */
  reason: z.string().nullable(),
});
export type DecisionStatement = z.infer<typeof decisionStatementSchema>;

export const presenceStatementSchema = decisionStatementSchema.extend({
  /** The version of the statement's format. */
  presence: z.literal(1),
  /** 32 random bytes of the server, in base64url. The server accepts each nonce once. */
  nonce: z.string(),
  /** The time in RFC 3339 after which the server refuses the assertion. */
  expiresAt: z.string(),
});
export type PresenceStatement = z.infer<typeof presenceStatementSchema>;

export const presenceProofSchema = z.strictObject({
  statement: presenceStatementSchema,
  /** The WebAuthn relying party: its domain, and the origin of its page. */
  rpId: z.string(),
  origin: z.string(),
  passkey: z.strictObject({
    name: z.string(),
    /** The COSE public key (RFC 9052) in base64url. */
    publicKey: z.string(),
    /** The time in RFC 3339 at which the person registered the passkey. */
    registeredAt: z.string(),
  }),
  assertion: presenceAssertionSchema,
});
export type PresenceProof = z.infer<typeof presenceProofSchema>;

/** Returns the WebAuthn challenge of a statement: the SHA-256 (base64url) of its canonical JSON. */
export function presenceChallengeOf(statement: PresenceStatement): string {
  return createHash('sha256')
    .update(stringify(statement) ?? '')
    .digest('base64url');
}

/** Returns the fingerprint of a passkey's public key, in the form of an OpenSSH fingerprint. */
export function passkeyFingerprint(publicKey: string): string {
  const hash = createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('base64');
  return `SHA256:${hash.replace(/=+$/, '')}`;
}

/** Returns true if the statement of the proof names exactly this decision. */
export function provesDecision({ statement }: PresenceProof, decision: DecisionStatement): boolean {
  const { presence: _format, nonce: _nonce, expiresAt: _until, ...signed } = statement;
  return stringify(signed) === stringify(decision);
}
