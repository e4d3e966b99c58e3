/** A registered passkey, as the page shows it. The schemas use `zod/mini`, because a web page reads them. */
import * as z from 'zod/mini';

const registeredPasskeySchema = z.object({
  /** The credential id in base64url. */
  id: z.string(),
  name: z.string(),
  /** The time of the registration, as in RFC 3339. */
  registeredAt: z.string(),
});
export type RegisteredPasskey = z.infer<typeof registeredPasskeySchema>;

/** The response to `GET /page/api/passkeys`. */
export const passkeyListSchema = z.object({
  /** The origin where passkeys work. Absent if they work nowhere. */
  origin: z.optional(z.string()),
  /** Why passkeys do not work at the server's address, and what the operator must change. Absent if they work. */
  problem: z.optional(z.string()),
  passkeys: z.array(registeredPasskeySchema),
});
export type PasskeyList = z.infer<typeof passkeyListSchema>;
