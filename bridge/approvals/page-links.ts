/**
 * One-time links to the page of the agent's server, each leading to one action. A link has authority, so it goes into a form
 * in URL mode, which the person sees and the model does not. The same form keeps the same link until the link expires.
 */
import type { PageTarget } from '../../shared/net/page-address.ts';
import type { Session } from '../sessions/session.ts';
import type { Ask } from './form.ts';

type PageAsk = Extract<Ask, { about: 'page' }>;

export interface PageLink {
  url: string;
  /** Milliseconds from now until the link expires. */
  leftMs: number;
}

/** A link must leave the person this long to follow it, in milliseconds. */
const SHORTEST_MS = 20_000;
/** An agent that has made no link is asked again after this, in milliseconds. */
const RETRY_MS = 30_000;
const KEPT = 200;

interface Kept {
  url: string | undefined;
  /** By the wall clock, as the agent says it, in milliseconds since 1970. */
  until: number;
}

export class PageLinks {
  readonly #kept = new Map<string, Promise<Kept>>();
  readonly #now: () => number;

  /** @param now the wall clock, in milliseconds since 1970 */
  constructor(now: () => number = () => Date.now()) {
    this.#now = now;
  }

  /** @returns 'expired' when the form's link is over: the form needs another key; undefined where the agent has no page */
  async link(session: Session, ask: PageAsk): Promise<PageLink | 'expired' | undefined> {
    const taskId = session.view?.taskId ?? '';
    const name = `${taskId} ${ask.key}`;
    const { callId, action } = ask;
    const making = this.#kept.get(name) ?? this.#make(session, { taskId, callId, shown: action.shown });
    this.#keep(name, making);
    const { url, until } = await making;
    const leftMs = until - this.#now();
    if (url !== undefined) return leftMs > SHORTEST_MS ? { url, leftMs } : 'expired';
    if (leftMs <= 0) this.#kept.delete(name);
    return undefined;
  }

  async #make(session: Session, target: PageTarget): Promise<Kept> {
    const link = await session.agent
      .ask((connection) => connection.pageLink(target))
      // Without a link the person decides on the command line, which needs no other way to the agent than this.
      .catch(() => null);
    if (link === null) return { url: undefined, until: this.#now() + RETRY_MS };
    return { url: link.url, until: Date.parse(link.expiresAt) };
  }

  #keep(name: string, making: Promise<Kept>): void {
    this.#kept.set(name, making);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}
