/**
 * A browser exchanges a one-time link for a session of the approval page.
 *
 * - A link's code and a session's two secrets are random (256 bits). The server stores only their SHA-256.
 * - A session needs both secrets: the cookie and the page key. The page's script cannot read the cookie. The browser
 *   stores the page key for this origin. Browsers share cookies between the ports of a host, so a cookie alone is no
 *   proof.
 * - X1: the server compares digests in constant time and logs no secret.
 * - Links and sessions stay valid after a restart. If a token of the principal changes, they end. A link that an issued
 *   token has made, and its session, end with that token instead.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Identity } from '../access/identity.ts';
import { type IssuedTokens, NO_ISSUED_TOKENS } from '../access/issued-tokens.ts';
import type { Credential } from '../http/auth/tokens.ts';
import type { GrantedAccess, PageAccessFile } from './stored-page-access.ts';

export const LINK_MS = 10 * 60_000;

/** After this time, the person must open a new link. */
export const SESSION_MS = 24 * 60 * 60_000;

/** Each principal has at most this many links, and this many sessions. A further one ends the oldest. */
const MAX_PER_PRINCIPAL = 100;

const BYTES = 32;

export interface PageLink {
  code: string;
  /** In milliseconds since 1970. */
  expiresAt: number;
}

export interface SessionSecrets {
  cookie: string;
  pageKey: string;
}

export interface PageSession extends Identity {
  /** In milliseconds since 1970. */
  expiresAt: number;
  /** Calls `act` once when the session is signed out. Returns a function that removes the listener. */
  onSignOut: (act: () => void) => () => void;
}

export interface PageSessions {
  /** Creates a link. Resolves when the link is on disk. */
  makeLink(identity: Identity): Promise<PageLink>;
  /**
   * Exchanges the code of a one-time link for a session. After that, the code no longer works.
   * @throws ProductError UNAUTHENTICATED if the code is unknown, used or expired; STORAGE if the session cannot be
   * stored, and then the code still works
   */
  signIn(code: string): Promise<SessionSecrets & { expiresAt: number }>;
  /** Returns the session of these secrets. @throws ProductError UNAUTHENTICATED if there is no such session */
  find(secrets: SessionSecrets | undefined): PageSession;
  /**
   * Ends the session. If `everywhere` is true, ends all sessions and links of its principal. @throws ProductError
   * UNAUTHENTICATED
   */
  signOut(secrets: SessionSecrets | undefined, everywhere: boolean): Promise<void>;
}

interface PageSessionsOptions {
  credentials: readonly Credential[];
  clock: Pick<Clock, 'now'>;
  file: PageAccessFile;
  /** The default is a server without issued tokens. */
  issued?: Pick<IssuedTokens, 'active'>;
}

export async function pageSessions({
  credentials,
  clock,
  file,
  issued = NO_ISSUED_TOKENS,
}: PageSessionsOptions): Promise<PageSessions> {
  const marks = tokenMarks(credentials);
  const markOf = ({ principal, tokenId }: Identity): string | undefined =>
    tokenId === undefined ? marks.get(principal) : issued.active(tokenId)?.digest;
  const current = (access: GrantedAccess): boolean => markOf(identityOf(access)) === access.tokens;
  const read = await file.read();
  let links = read.links.filter(current);
  let sessions = read.sessions.filter(current);
  const listeners = new Map<string, Set<() => void>>();

  const living = ({ expiresAt }: GrantedAccess): boolean => expiresAt > clock.now();
  const save = (): Promise<void> => {
    links = newest(links.filter(living));
    sessions = newest(sessions.filter(living));
    return file.write({ links, sessions });
  };
  const granted = (identity: Identity, secret: string, ms: number): GrantedAccess => {
    const tokens = markOf(identity);
    if (tokens === undefined)
      throw new ProductError('UNAUTHENTICATED', 'The token of this link has expired or was revoked.');
    return { ...identity, digest: digestOf(secret), tokens, expiresAt: clock.now() + ms };
  };
  const found = (list: readonly GrantedAccess[], secret: string): GrantedAccess | undefined => {
    const digest = Buffer.from(digestOf(secret));
    let match: GrantedAccess | undefined;
    // The loop compares with every entry, so that its time does not reveal which entry matches.
    for (const each of list) if (timingSafeEqual(Buffer.from(each.digest), digest)) match = each;
    return match !== undefined && living(match) && current(match) ? match : undefined;
  };
  const sessionOf = (secrets: SessionSecrets | undefined): GrantedAccess => {
    const session = secrets === undefined ? undefined : found(sessions, joined(secrets));
    if (session === undefined)
      throw new ProductError(
        'UNAUTHENTICATED',
        'This browser is not signed in. Run "mcp-a2a-bridge page" and open the link that it prints.',
      );
    return session;
  };

  return {
    async makeLink(identity) {
      const code = random();
      const link = granted(identity, code, LINK_MS);
      links.push(link);
      await save();
      return { code, expiresAt: link.expiresAt };
    },
    async signIn(code) {
      const link = found(links, code);
      if (link === undefined)
        throw new ProductError(
          'UNAUTHENTICATED',
          'This link is used up or too old: each link signs in once, within ten minutes. Run "mcp-a2a-bridge page" for a new one.',
        );
      links = links.filter((each) => each !== link);
      const secrets = { cookie: random(), pageKey: random() };
      const session = granted(identityOf(link), joined(secrets), SESSION_MS);
      sessions.push(session);
      try {
        await save();
      } catch (error) {
        // The file still has the link, so it stays usable now too.
        sessions = sessions.filter((each) => each !== session);
        links.push(link);
        throw error;
      }
      return { ...secrets, expiresAt: session.expiresAt };
    },
    find(secrets) {
      const session = sessionOf(secrets);
      const { digest, expiresAt } = session;
      return {
        ...identityOf(session),
        expiresAt,
        onSignOut: (act) => {
          const acts = listeners.get(digest) ?? new Set();
          listeners.set(digest, acts.add(act));
          return () => {
            acts.delete(act);
            if (acts.size === 0 && listeners.get(digest) === acts) listeners.delete(digest);
          };
        },
      };
    },
    async signOut(secrets, everywhere) {
      const session = sessionOf(secrets);
      const ends = (each: GrantedAccess): boolean =>
        each === session || (everywhere && each.principal === session.principal);
      const ended = sessions.filter(ends);
      sessions = sessions.filter((each) => !ends(each));
      links = links.filter((each) => !ends(each));
      // The open streams end even if the file cannot be written.
      for (const { digest } of ended) for (const act of listeners.get(digest) ?? []) act();
      // Without its file, the server knows no session after a restart. With an old file, it would know the ended ones.
      await save().catch(() => file.remove());
    },
  };
}

/** Returns a keyed hash of each principal's tokens. The hash changes with each token, but reveals no token. */
function tokenMarks(credentials: readonly Credential[]): ReadonlyMap<string, string> {
  return new Map(
    credentials.map(({ principal }) => {
      const tokens = credentials.filter((each) => each.principal === principal).map(({ token }) => token);
      return [principal, createHmac('sha256', JSON.stringify(tokens)).update('approval page').digest('hex')];
    }),
  );
}

function identityOf({ principal, tokenId }: GrantedAccess): Identity {
  return { principal, ...(tokenId !== undefined && { tokenId }) };
}

function newest(list: readonly GrantedAccess[]): GrantedAccess[] {
  const kept = new Map<string, number>();
  return list
    .toReversed()
    .filter(({ principal }) => {
      const count = (kept.get(principal) ?? 0) + 1;
      kept.set(principal, count);
      return count <= MAX_PER_PRINCIPAL;
    })
    .toReversed();
}

const random = (): string => randomBytes(BYTES).toString('base64url');
const joined = ({ cookie, pageKey }: SessionSecrets): string => `${cookie}.${pageKey}`;
const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
