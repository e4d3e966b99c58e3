/**
 * Stores links and sessions of the approval page. A record contains a hash of the secrets, but no secret. Its name is
 * this hash.
 */
import { z } from 'zod';
import { roleSchema } from '../access/role.ts';
import type { RecordStore } from '../records/record-store.ts';

const grantedAccessSchema = z.strictObject({
  principal: z.string(),
  /**
   * A hash of the principal's tokens, of the issued token, or of the provider's settings. If it changes, the access
   * ends.
   */
  tokens: z.string(),
  /** The issued token with which the link was created. The access ends with this token. */
  tokenId: z.string().optional(),
  /** The access from the provider's token with which the link was created. Absent for other tokens. */
  provided: z
    .strictObject({
      roles: z.array(roleSchema),
      groups: z.array(z.string()),
      /** The expiry of the token, in milliseconds since 1970. The access does not last longer. */
      expiresAt: z.number(),
    })
    .optional(),
  /**
   * The end of the access with which the link was created, in milliseconds since 1970. This access does not last longer.
   * Absent if that access has no end.
   */
  until: z.number().optional(),
  /** The end of the access, in milliseconds since 1970. */
  expiresAt: z.number(),
});
export type PageAccess = z.infer<typeof grantedAccessSchema>;

/** The maximum number of links of one principal, and of its browser sessions. A new one then ends the oldest. */
const MAX_PER_PRINCIPAL = 100;

export interface PageAccessStore {
  /**
   * Returns the access. Undefined if there is no valid record.
   * @param digest SHA-256 (hex) of the secret
   * @throws ProductError STORAGE
   */
  read(digest: string): Promise<PageAccess | undefined>;
  /** Stores the access, and removes old ones. @throws ProductError STORAGE */
  add(digest: string, access: PageAccess): Promise<void>;
  /** Removes the access. If several callers remove the same access, only one gets true. @throws ProductError STORAGE */
  remove(digest: string): Promise<boolean>;
  /** Returns the digests of the principal's accesses. @throws ProductError STORAGE */
  ofPrincipal(principal: string): Promise<string[]>;
}

/** @param now returns milliseconds since 1970 */
export function createPageAccessStore(
  records: Omit<RecordStore, 'watch'>,
  kind: 'page-links' | 'page-sessions',
  now: () => number,
): PageAccessStore {
  const list = async (): Promise<(PageAccess & { digest: string })[]> =>
    [...(await records.list(kind))].flatMap(([digest, text]) => {
      const access = parsed(text);
      return access === undefined ? [] : [{ ...access, digest }];
    });
  const removeOld = async (principal: string): Promise<void> => {
    const all = await list();
    const expired = all.filter(({ expiresAt }) => expiresAt <= now());
    const tooMany = all
      .filter((access) => access.principal === principal && !expired.includes(access))
      .toSorted((one, other) => other.expiresAt - one.expiresAt)
      .slice(MAX_PER_PRINCIPAL);
    await Promise.all([...expired, ...tooMany].map(({ digest }) => records.remove(kind, digest)));
  };
  return {
    async read(digest) {
      const text = await records.read(kind, digest);
      return text === undefined ? undefined : parsed(text);
    },
    async add(digest, access) {
      await records.replace(kind, digest, JSON.stringify(access));
      await removeOld(access.principal);
    },
    remove: (digest) => records.remove(kind, digest),
    async ofPrincipal(principal) {
      return (await list()).flatMap((access) => (access.principal === principal ? [access.digest] : []));
    },
  };
}

/** Parses a record. Returns undefined for a damaged record, which gives no access. */
function parsed(text: string): PageAccess | undefined {
  try {
    return grantedAccessSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
