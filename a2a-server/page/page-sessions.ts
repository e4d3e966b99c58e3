/**
 * A browser exchanges a one-time link for a session of the approval page, or signs in with the OpenID Connect provider.
 *
 * - A link's code and a session's two secrets are random (256 bits). The server stores only their SHA-256.
 * - A session needs both secrets: the cookie and the page key. The page's script cannot read the cookie. The browser
 *   stores the page key for this origin. Browsers share cookies between the ports of a host, so a cookie alone is no
 *   proof.
 * - X1: the server finds a session by the hash of its secrets, so the time of a search reveals no secret. The server
 *   logs no secret.
 * - Links and sessions stay valid after a restart. They end if a configured token of the principal changes. But a link
 *   that an issued token or a provider's token has created ends with that token, and so does its session. If the token
 *   is from the provider, both also end if the settings of the provider change.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { sha256 } from '../../shared/runtime/sha256.ts';
import { createCredentialFingerprints } from '../access/credential-fingerprints.ts';
import { createAccessEndListeners } from '../access/access-end-listeners.ts';
import type { Identity } from '../access/identity.ts';
import type { IssuedTokenReader } from '../access/issued-token-reader.ts';
import type { OidcSettings } from '../access/oidc-settings.ts';
import type { Credential } from '../http/auth/tokens.ts';
import type { RecordStore } from '../records/record-store.ts';
import { type PageAccess, type PageAccessStore, createPageAccessStore } from './page-access.ts';

export const PAGE_LINK_MS = 10 * 60_000;

/**
 * The lifetime of a session. After this time, the person must open a new link. A link that is created from a session
 * ends with the session at the latest.
 */
export const PAGE_SESSION_MS = 24 * 60 * 60_000;

const SECRET_BYTES = 32;

interface OneTimeLink {
  code: string;
  /** The end of the link's validity, in milliseconds since 1970. */
  expiresAt: number;
}

export interface PageSessionSecrets {
  cookie: string;
  pageKey: string;
}

export interface PageSession extends Identity {
  /** The end of the session, in milliseconds since 1970. */
  expiresAt: number;
  /** Calls `act` once when the session is signed out. Returns a function that removes the listener. */
  onSignOut: (act: () => void) => () => void;
}

export type PageSessions = ReturnType<typeof createPageSessions>;

interface PageSessionsOptions {
  credentials: readonly Credential[];
  clock: Pick<Clock, 'now'>;
  records: RecordStore;
  /** The issued tokens of the server. */
  issued: Pick<IssuedTokenReader, 'active'>;
  /** The settings of the OpenID Connect provider. By default, its tokens make no links. */
  provider?: OidcSettings | undefined;
  /**
   * Called if the server cannot read the open sessions. It reads them to end the sessions that another server has
   * signed out.
   */
  onFailure: (error: unknown) => void;
}

export function createPageSessions({
  credentials,
  clock,
  records,
  issued,
  provider,
  onFailure,
}: PageSessionsOptions) {
  const credentialFingerprintOf = createCredentialFingerprints({
    credentials,
    provider,
    purpose: 'approval page',
  });
  const now = (): number => clock.now();
  const links = createPageAccessStore(records, 'page-links', now);
  const sessions = createPageAccessStore(records, 'page-sessions', now);
  /** Sessions that are signed out here, although the storage may still have them. */
  const signedOut = new Set<string>();
  /** The sign-out listeners of open streams, by the digest of the session. */
  const listeners = createAccessEndListeners(
    async (digest) => signedOut.has(digest) || (await sessions.read(digest)) === undefined,
    onFailure,
  );
  const stopWatching = records.watch('page-sessions', () => listeners.check());

  const fingerprintOf = async ({ principal, tokenId, roles }: Identity): Promise<string | undefined> =>
    tokenId === undefined
      ? credentialFingerprintOf({ principal, provided: roles !== undefined })
      : (await issued.active(tokenId))?.digest;
  const usable = async (access: PageAccess | undefined): Promise<PageAccess | undefined> =>
    access !== undefined &&
    access.expiresAt > now() &&
    (await fingerprintOf(identityOf(access))) === access.tokens
      ? access
      : undefined;
  const endAfter = (ms: number, { until = Infinity }: Pick<PageAccess, 'until'>): number =>
    Math.min(now() + ms, until);
  const sessionOf = async (
    secrets: PageSessionSecrets | undefined,
  ): Promise<PageAccess & { digest: string }> => {
    const digest = secrets === undefined ? '' : sha256(joined(secrets));
    const session = signedOut.has(digest) ? undefined : await usable(await sessions.read(digest));
    if (session === undefined)
      throw new ProductError(
        'UNAUTHENTICATED',
        'This browser is not signed in. Run "mcp-a2a-bridge page" and open the link that it prints.',
      );
    return { ...session, digest };
  };
  const accessNow = async (identity: Identity, ms: number): Promise<PageAccess> => {
    const tokens = await fingerprintOf(identity);
    if (tokens === undefined)
      throw new ProductError('UNAUTHENTICATED', 'The token of this link has expired or was revoked.');
    const access = accessOf(identity);
    return { ...access, tokens, expiresAt: endAfter(ms, access) };
  };
  const addSession = async (session: PageAccess): Promise<PageSessionSecrets & { expiresAt: number }> => {
    const secrets = { cookie: random(), pageKey: random() };
    await sessions.add(sha256(joined(secrets)), session);
    return { ...secrets, expiresAt: session.expiresAt };
  };

  return {
    /** Creates a link. Resolves when the link is on disk. */
    async makeLink(identity: Identity): Promise<OneTimeLink> {
      return issueOneTimeLink(links, await accessNow(identity, PAGE_LINK_MS));
    },
    /**
     * Exchanges the code of a one-time link for a session. After that, the code no longer works.
     * @throws ProductError UNAUTHENTICATED if the code is unknown, used or expired; STORAGE if the session cannot be
     * stored, and then the code still works
     */
    async signIn(code: string): Promise<PageSessionSecrets & { expiresAt: number }> {
      const used = sha256(code);
      const link = await usable(await links.read(used));
      if (link !== undefined) {
        // The session is stored before the link is removed, so that "sign out everywhere" always finds one of the two.
        const session = await addSession({ ...link, expiresAt: endAfter(PAGE_SESSION_MS, link) });
        if (await links.remove(used)) return session;
        await sessions.remove(sha256(joined(session)));
      }
      throw new ProductError(
        'UNAUTHENTICATED',
        'This link is used up or too old: each link signs in once, within ten minutes. Run "mcp-a2a-bridge page" for a new one.',
      );
    },
    /**
     * Creates a session without a link, after a sign-in with the provider.
     * @throws ProductError UNAUTHENTICATED; STORAGE
     */
    async begin(identity: Identity): Promise<PageSessionSecrets & { expiresAt: number }> {
      return addSession(await accessNow(identity, PAGE_SESSION_MS));
    },
    /** Returns the session of these secrets. @throws ProductError UNAUTHENTICATED if there is no such session */
    async find(secrets: PageSessionSecrets | undefined): Promise<PageSession> {
      const session = await sessionOf(secrets);
      const { digest, expiresAt } = session;
      return {
        ...identityOf(session),
        expiresAt,
        // The session may have ended between `find` and this call. `add` checks that.
        onSignOut: (act) => listeners.add(digest, act),
      };
    },
    /**
     * Ends the session. If `everywhere` is true, ends all sessions and links of its principal.
     * @throws ProductError UNAUTHENTICATED
     */
    async signOut(secrets: PageSessionSecrets | undefined, everywhere: boolean): Promise<void> {
      const { digest, principal } = await sessionOf(secrets);
      try {
        if (everywhere) for (const each of await links.ofPrincipal(principal)) await links.remove(each);
      } finally {
        const ended = everywhere ? await sessions.ofPrincipal(principal) : [digest];
        // If the storage fails to remove a session below, the session has still ended at this server.
        for (const each of ended) {
          signedOut.add(each);
          listeners.end(each);
        }
        for (const each of ended) {
          await sessions.remove(each);
          signedOut.delete(each);
        }
      }
    },
    close: stopWatching,
  };
}

/** Creates the one-time link of an access. Resolves when the link is stored. @throws ProductError STORAGE */
export async function issueOneTimeLink(
  links: Pick<PageAccessStore, 'add'>,
  access: PageAccess,
): Promise<OneTimeLink> {
  const code = random();
  await links.add(sha256(code), access);
  return { code, expiresAt: access.expiresAt };
}

function accessOf({
  principal,
  tokenId,
  roles,
  groups = [],
  expiresAt,
}: Identity): Pick<PageAccess, 'principal' | 'tokenId' | 'provided' | 'until'> {
  return {
    principal,
    ...(tokenId !== undefined && { tokenId }),
    ...(roles && { provided: { roles: [...roles], groups: [...groups] } }),
    ...(expiresAt !== undefined && { until: expiresAt }),
  };
}

function identityOf({ principal, tokenId, provided }: PageAccess): Identity {
  return { principal, ...(tokenId !== undefined && { tokenId }), ...provided };
}

const random = (): string => randomBytes(SECRET_BYTES).toString('base64url');
const joined = ({ cookie, pageKey }: PageSessionSecrets): string => `${cookie}.${pageKey}`;
