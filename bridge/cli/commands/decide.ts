/**
 * The commands `approve` and `deny`. D2: a decision is valid only for what the person saw. If the person types the
 * complete code of an action, the person has seen it, so the command sends the decision at once. If the person types a
 * session, a call or a part of a code, the command shows the action and asks for confirmation.
 */
import { requestSessionPageLink } from '../../approvals/page-links.ts';
import {
  type DecisionInput,
  toPersonDecision,
  type McpDecisionWord,
} from '../../approvals/decision-input.ts';
import {
  type DecisionScope,
  decisionScopeSchema,
  type PendingAction,
} from '../../../shared/protocol/tool-approval.ts';
import type { Session } from '../../sessions/session/session.ts';
import { actionText } from '../terminal/action-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { askToConfirm } from '../terminal/confirm.ts';
import { decisionElsewhereError } from '../terminal/how-to-decide.ts';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { readChoiceOption, readNumberOption } from '../terminal/option-value.ts';
import { commandWord } from '../terminal/command-word.ts';
import { resolveActions, type NamedActions } from '../decisions/resolve-id.ts';
import { printDecisionOutcome } from '../decisions/print-decision-outcome.ts';
import type { CommandRun } from '../context/run-command.ts';
import { sendDecisionsFromTerminal } from '../decisions/send-decisions.ts';

interface DecideOptions {
  all?: boolean;
  reason?: string;
  scope?: string;
  minutes?: string;
  uses?: string;
}

/** The maximum number of rows without a link to the page. It is the height of a small terminal window. */
const MAX_ROWS_WITHOUT_LINK = 24;

const APPROVALS: Readonly<Record<DecisionScope, McpDecisionWord>> = {
  once: 'approve',
  tool: 'trust_tool',
  server: 'trust_server',
  always: 'trust_always',
};

export async function decideCommand(
  run: CommandRun<DecideOptions>,
  word: 'approve' | 'deny',
  given: { what: string; call: string | undefined },
): Promise<number> {
  const { options, terminal } = run;
  const { scope = 'once', reason } = options;
  const decision =
    word === 'approve' ? APPROVALS[readChoiceOption('scope', scope, decisionScopeSchema.options)] : word;
  const limits = limitsIn(options);
  const context = await run.openSessions();
  const { session, actions, seen } = await resolveActions(context.sessions, given, options.all === true);
  if (!seen && !(await showAndConfirm(terminal, word, { session, actions }))) {
    terminal.say('Nothing was decided.');
    return EXIT_FAILURE;
  }
  const decisions = actions.map(({ callId, shown }) =>
    toPersonDecision({ callId, shown, decision, ...limits, reason }),
  );
  await sendDecisionsFromTerminal(session, decisions, terminal);
  printDecisionOutcome(
    terminal,
    session,
    actions.map(({ callId }) => ({ callId, decision: word })),
  );
  return 0;
}

/**
 * Shows the actions and asks the person to confirm.
 * @throws UsageError without a terminal; PRESENCE_REQUIRED if only the page can approve; OTHER_APPROVER_REQUIRED
 */
async function showAndConfirm(
  terminal: Terminal,
  word: 'approve' | 'deny',
  { session, actions }: Pick<NamedActions, 'session' | 'actions'>,
): Promise<boolean> {
  const texts = actions.map((action) => `${actionText(action, terminal)}\n`);
  for (const text of texts) terminal.say(text);
  // Anyone with the link can decide. So the link is printed only to a terminal.
  if (terminal.canAsk && isLong(texts) && actions.some(({ decisions }) => decisions.length > 0))
    await printPageLink(terminal, session, actions);
  for (const action of actions) {
    const barred = decisionElsewhereError(action, word);
    if (barred !== undefined) throw barred;
  }
  const what = actions.length === 1 ? '' : ` all ${String(actions.length)}`;
  return askToConfirm(
    terminal,
    { commandWithoutQuestion: commandWithoutQuestion(word, actions) },
    `${word === 'approve' ? 'Approve' : 'Deny'}${what}?`,
  );
}

/** Returns true if the actions may be easier to read on the page. A short action fits on the screen above its question. */
function isLong(texts: readonly string[]): boolean {
  return texts.join('\n').split('\n').length > MAX_ROWS_WITHOUT_LINK;
}

/** Prints a one-time link to the agent's page, if the agent has one. */
async function printPageLink(
  terminal: Terminal,
  session: Session,
  actions: readonly PendingAction[],
): Promise<void> {
  const [{ callId, shown } = {}, another] = actions;
  const taskId = session.view?.taskId;
  const link = await requestSessionPageLink(
    session,
    another === undefined ? { taskId, callId, shown } : { taskId },
  );
  if (link === null) return;
  terminal.explain('Or decide in a browser. This link works once, and who opens it can decide for you:');
  terminal.say(`${link.url}\n`);
}

/** Returns the command that decides by the complete code and asks no question. */
function commandWithoutQuestion(word: 'approve' | 'deny', actions: readonly PendingAction[]): string {
  const [action, another] = actions;
  return `${word} ${action === undefined || another !== undefined ? '<code>' : commandWord(action.shown)}`;
}

/** The limits of --minutes and --uses. */
const TRUST_LIMITS = { min: 1, max: 99_999 };

/** Reads the options that limit a grant. @throws UsageError */
function limitsIn({
  minutes,
  uses,
  scope = 'once',
}: DecideOptions): Pick<DecisionInput, 'trustMinutes' | 'trustUses'> {
  if ((minutes !== undefined || uses !== undefined) && scope === 'once')
    throw new UsageError('--minutes and --uses limit a trust: they go with --scope tool, server or always.');
  return {
    trustMinutes: minutes === undefined ? undefined : readNumberOption('--minutes', minutes, TRUST_LIMITS),
    trustUses: uses === undefined ? undefined : readNumberOption('--uses', uses, TRUST_LIMITS),
  };
}
