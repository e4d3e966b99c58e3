/**
 * Stores one-time links to the agent's approval page. Each link opens one action. Anyone with the link can decide. So
 * the link appears only in a form in URL mode, which the model does not see. The same form keeps the same link until
 * the link expires.
 */
import { setBounded } from '../../shared/runtime/set-bounded.ts';
import type { PageTarget } from '../../shared/net/page-address.ts';
import type { PageLink as AgentPageLink } from '../agents/a2a-server-requests.ts';
import type { Session } from '../sessions/session/session.ts';
import type { FormCandidate } from './form.ts';

type PageAsk = Extract<FormCandidate, { about: 'page' }>;

interface CurrentPageLink {
  url: string;
  /** The time until the link expires, in milliseconds. */
  leftMs: number;
}

/** The minimum remaining lifetime of a link that the bridge still shows, in milliseconds. */
const MIN_LIFETIME_MS = 20_000;
/** The time in milliseconds after which the bridge asks again, if the agent returned no link. */
const RETRY_MS = 30_000;
const MAX_LINKS = 200;

interface StoredLink {
  url: string | undefined;
  /**
   * If there is a link, the time at which it expires. Otherwise the time after which the bridge asks the agent again.
   * By the wall clock, in milliseconds since 1970.
   */
  until: number;
}

export class PageLinks {
  readonly #kept = new Map<string, Promise<StoredLink>>();

  /**
   * Returns the link of a form, and creates it if necessary.
   * @returns `expired` if the link has expired and the form needs another key; undefined if the agent returns no link
   */
  async link(session: Session, ask: PageAsk): Promise<CurrentPageLink | 'expired' | undefined> {
    const taskId = session.view?.taskId ?? '';
    const name = `${taskId} ${ask.key}`;
    const { callId, action } = ask;
    const making =
      this.#kept.get(name) ?? this.#requestLink(session, { taskId, callId, shown: action.shown });
    setBounded(this.#kept, name, making, MAX_LINKS);
    const { url, until } = await making;
    const leftMs = until - Date.now();
    if (url !== undefined) return leftMs > MIN_LIFETIME_MS ? { url, leftMs } : 'expired';
    if (leftMs <= 0) this.#kept.delete(name);
    return undefined;
  }

  async #requestLink(session: Session, target: PageTarget): Promise<StoredLink> {
    const link = await requestSessionPageLink(session, target);
    if (link === null) return { url: undefined, until: Date.now() + RETRY_MS };
    return { url: link.url, until: Date.parse(link.expiresAt) };
  }
}

/**
 * Asks the session's agent for a one-time link to its page. Returns null if the agent returns none. The person then
 * decides on the command line.
 */
export function requestSessionPageLink(session: Session, target: PageTarget): Promise<AgentPageLink | null> {
  return session.agent.ask((connection) => connection.pageLink(target)).catch(() => null);
}
