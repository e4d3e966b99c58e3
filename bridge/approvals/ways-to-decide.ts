/** Lists how a person decides outside the client: one command line per action, and the local server's page. Pure. */
import { quote } from 'shell-quote';
import { pageAddress } from '../../shared/net/page-address.ts';
import { LOCAL_AGENT } from '../settings/agent-settings.ts';
import type { Session } from '../sessions/session.ts';
import type { McpDecisionWord } from './decision-input.ts';

/** The maximum number of command lines in one sentence. The command `show` lists the rest. */
const LINES = 3;

/** The pending actions and the question of a session, as they were shown. */
export interface ShownWaiting {
  pending: readonly {
    shown: string;
    /** Characters of the preview that were left out. */
    cut: number;
    decisions: readonly McpDecisionWord[];
  }[];
  question: { shown: string } | null;
}

/**
 * Returns one command line for each pending action or question. If the preview was cut, the command is `show` (D5).
 * @param program the command that runs the bridge at a terminal
 */
export function decisionLines(waiting: ShownWaiting, program: string): readonly string[] {
  return decisionWords(waiting).map((words) => `${program} ${words}`);
}

/** Returns the command lines without the program. */
function decisionWords({ pending, question }: ShownWaiting): readonly string[] {
  const asked = pending.length === 0 && question !== null ? [question] : [];
  return [
    ...pending.map(({ shown, cut, decisions }) => {
      if (cut > 0) return wordsFor('show', shown);
      if (decisions.includes('answer')) return wordsFor('answer', shown, ' <words>');
      // No approval is possible at a terminal if the action demands presence.
      return wordsFor(decisions.includes('approve') ? 'approve' : 'show', shown);
    }),
    ...asked.map(({ shown }) => wordsFor('answer', shown, ' <words>')),
  ];
}

function wordsFor(verb: string, shown: string, rest = ''): string {
  return `${verb} ${quote([shown])}${rest}`;
}

export interface WaysToDecide {
  waiting: ShownWaiting;
  program: string;
  /** True if an earlier result has named the program and the page. */
  brief?: boolean;
}

/**
 * Explains how a person can decide outside the client.
 * @param program how a person runs the bridge at a terminal. @returns '' when the session has nothing to decide
 */
export function waysToDecide(
  { id, agent, view }: Pick<Session, 'id' | 'agent' | 'view'>,
  { waiting, program, brief = false }: WaysToDecide,
): string {
  const all = `show ${quote([id])}`;
  const hidden = (view?.pending.length ?? 0) > waiting.pending.length;
  const [first, ...others] = [...decisionWords(waiting), ...(hidden ? [all] : [])];
  if (first === undefined) return '';
  const named = others.slice(0, LINES - 1);
  const told = [...named, ...(others.length > named.length ? [all] : [])].map((each) => `\`${each}\``);
  const rest = told.length === 0 ? '' : ` (or ${told.join(', ')})`;
  if (brief) return `At a terminal: \`${first}\`${rest}.`;
  const address = taskPage({ agent, view });
  const page = address === undefined ? '' : `, or on the page ${address}`;
  return `The person can also decide at a terminal with \`${program} ${first}\`${rest}${page}.`;
}

/** Returns the address of the task on the local server's page, without a credential. Other agents may have no page. */
export function taskPage({ agent, view }: Pick<Session, 'agent' | 'view'>): string | undefined {
  return agent.name === LOCAL_AGENT && agent.url !== undefined && view !== undefined
    ? pageAddress(agent.url, { taskId: view.taskId })
    : undefined;
}
