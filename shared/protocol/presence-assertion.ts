/**
 * The passkey assertion (WebAuthn) in a decision. It shows that a person with a registered passkey made the decision.
 */
import { z } from 'zod';

/** Matches base64url without padding (RFC 4648 §5). */
const base64url = z
  .string()
  .regex(/^[A-Za-z0-9_-]+$/)
  .max(10_000);

/** The fields of a WebAuthn `AuthenticatorAssertionResponse`, each in base64url. `id` is the id of the passkey. */
export const presenceAssertionSchema = z.strictObject({
  id: base64url,
  authenticatorData: base64url,
  clientDataJSON: base64url,
  signature: base64url,
});
export type PresenceAssertion = z.infer<typeof presenceAssertionSchema>;
