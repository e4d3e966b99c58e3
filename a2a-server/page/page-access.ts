/**
 * Stores links and sessions of the approval page. The name of a record is the SHA-256 (hex) of the secret, so no record
 * contains a secret.
 */
import { z } from 'zod';
import { roleSchema } from '../access/role.ts';
import { createExpiringRecords, type ExpiringRecords } from '../records/expiring-records.ts';
import type { RecordStore } from '../records/record-store.ts';

const grantedAccessSchema = z.strictObject({
  principal: z.string(),
  /**
   * A hash from the start of the access. It covers the principal's tokens, the issued token, or the provider's
   * settings. If the present hash differs, the access ends.
   */
  tokens: z.string(),
  /** The issued token with which the link was created. The access ends with this token. */
  tokenId: z.string().optional(),
  /** The roles and groups of the provider's token with which the link was created. Absent for other tokens. */
  provided: z.strictObject({ roles: z.array(roleSchema), groups: z.array(z.string()) }).optional(),
  /**
   * The end of the access with which the link was created, in milliseconds since 1970. The link and its session do not
   * last longer. Absent if that access has no end.
   */
  until: z.number().optional(),
  /** The end of the access, in milliseconds since 1970. */
  expiresAt: z.number(),
});
export type PageAccess = z.infer<typeof grantedAccessSchema>;
export type PageAccessStore = ExpiringRecords<PageAccess>;

/** The maximum number of links of one principal, and of its browser sessions. */
const MAX_PER_PRINCIPAL = 100;

/** @param now returns milliseconds since 1970 */
export function createPageAccessStore(
  records: Omit<RecordStore, 'watch'>,
  kind: 'page-links' | 'page-sessions',
  now: () => number,
): PageAccessStore {
  return createExpiringRecords(records, kind, {
    schema: grantedAccessSchema,
    maxPerPrincipal: MAX_PER_PRINCIPAL,
    now,
  });
}
