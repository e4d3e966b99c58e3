/**
 * Lists the ways to decide outside of the MCP client: one command line for each action, and the local server's page.
 * Pure.
 */
import { quote } from 'shell-quote';
import { pageAddress } from '../../shared/net/page-address.ts';
import { LOCAL_AGENT } from '../settings/agent-settings.ts';
import type { Session } from '../sessions/session/session.ts';
import type { McpDecisionWord } from './decision-input.ts';

/** The maximum number of command lines in one sentence. The command `show` lists the others. */
const MAX_COMMAND_LINES = 3;

/** The pending actions and the question of a session, as a tool result showed them. */
export interface ShownPending {
  pending: readonly {
    shown: string;
    /** The number of characters of the preview that were left out. */
    cut: number;
    decisions: readonly McpDecisionWord[];
  }[];
  question: { shown: string } | null;
}

/**
 * Returns one command line for each pending action or question that the person may decide. D5: a person can approve
 * only what is shown in full. If the preview was cut, the command is therefore `show`.
 * @param program the command that runs the bridge in a terminal
 */
export function decisionCommandLines(waiting: ShownPending, program: string): readonly string[] {
  return decisionWords(waiting).map((words) => `${program} ${words}`);
}

/** Returns the command lines without the name of the program. */
function decisionWords({ pending, question }: ShownPending): readonly string[] {
  const asked = pending.length === 0 && question !== null ? [question] : [];
  return [
    ...pending.flatMap(({ shown, cut, decisions }) => {
      if (decisions.length === 0) return [];
      if (cut > 0) return [wordsFor('show', shown)];
      if (decisions.includes('answer')) return [wordsFor('answer', shown, ' <words>')];
      // If an action demands a passkey, it cannot be approved in a terminal.
      return [wordsFor(decisions.includes('approve') ? 'approve' : 'show', shown)];
    }),
    ...asked.map(({ shown }) => wordsFor('answer', shown, ' <words>')),
  ];
}

function wordsFor(verb: string, shown: string, rest = ''): string {
  return `${verb} ${quote([shown])}${rest}`;
}

type TaskOfAgent = Pick<Session, 'view'> & { agent: Pick<Session['agent'], 'name' | 'url'> };

interface WaysToDecideOptions {
  waiting: ShownPending;
  program: string;
  /** True if an earlier tool result has already named the page. */
  brief?: boolean | undefined;
}

/**
 * Returns a text that explains how a person can decide outside of the MCP client. Returns '' if nothing waits for a
 * decision.
 * @param program the command that runs the bridge in a terminal
 */
export function waysToDecideText(
  { id, agent, view }: Pick<Session, 'id'> & TaskOfAgent,
  { waiting, program, brief = false }: WaysToDecideOptions,
): string {
  const all = `show ${quote([id])}`;
  const hidden = (view?.pending.length ?? 0) > waiting.pending.length;
  const [first, ...others] = [...decisionWords(waiting), ...(hidden ? [all] : [])];
  if (first === undefined) return '';
  const named = others.slice(0, MAX_COMMAND_LINES - 1);
  const told = [...named, ...(others.length > named.length ? [all] : [])].map((each) => `\`${each}\``);
  const rest = told.length === 0 ? '' : ` (or ${told.join(', ')})`;
  if (brief) return `At a terminal: \`${program} ${first}\`${rest}.`;
  const address = taskPageUrl({ agent, view });
  const page = address === undefined ? '' : `, or on the page ${address}`;
  return `The person can also decide at a terminal with \`${program} ${first}\`${rest}${page}.`;
}

/**
 * Returns the URL of the task on the local server's page, without a credential. Returns undefined for other agents,
 * because they may have no page.
 */
export function taskPageUrl({ agent, view }: TaskOfAgent): string | undefined {
  return agent.name === LOCAL_AGENT && agent.url !== undefined && view !== undefined
    ? pageAddress(agent.url, { taskId: view.taskId })
    : undefined;
}
