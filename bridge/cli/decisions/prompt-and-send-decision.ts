/** Asks the person at the terminal to decide the first pending action of a task. */
import { errorMessageOf, ProductError, type ErrorReason } from '../../../shared/runtime/errors.ts';
import { approvalNeededText, approverInsteadOfReader } from '../../../shared/protocol/demanded-approver.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { withDirectionMarks } from '../../../shared/text/logical-order.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { toPersonDecision } from '../../approvals/decision-input.ts';
import type { PersonDecision } from '../../dialects/dialect.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';
import { inTerminalWords } from '../terminal/terminal-words.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { actionText } from '../terminal/action-text.ts';
import { answerFromText, answerPrompt, parseTypedDecision } from './typed-answer.ts';
import { sendDecisionsFromTerminal } from './send-decisions.ts';
import { unsentLines, withdrawnText } from './withdrawn-text.ts';

/**
 * How a prompt ended. `left`: the person typed nothing, and the action still waits. `changed`: the task has new events.
 */
type AskingEnd = 'left' | 'changed';

/** What the terminal shows of the task. */
type ShownInput = Pick<TaskView, 'pending' | 'question'>;

/** The maximum length of a title in the prompt. The terminal shows the whole action above the prompt. */
const MAX_TITLE_CHARACTERS = 40;

/** What follows if the agent refuses a decision. `ask again`: the action still waits. Other errors end the command. */
const AFTER_REFUSAL: Partial<Record<ErrorReason, 'ask again' | 'changed'>> = {
  INVALID_DECISION: 'ask again',
  MALFORMED: 'ask again',
  PRESENCE_REQUIRED: 'ask again',
  // Later events of the task show why the action no longer waits.
  ALREADY_DECIDED: 'changed',
  INPUT_CHANGED: 'changed',
  UNKNOWN_CALL: 'changed',
  TASK_ENDED: 'changed',
};

/**
 * Shows the first pending action, asks the person to decide it, and sends the decision. A plain-text question is not
 * shown again, because the terminal already shows it.
 * @param shown the task as the terminal shows it. D2: a decision is valid only for what the person saw. So the decision
 * contains the code from this parameter.
 * @throws ProductError if the agent cannot be reached
 */
export async function promptAndSendDecision(
  terminal: Terminal,
  session: Session,
  shown: ShownInput,
): Promise<AskingEnd> {
  // The session may have read fewer events than the terminal has printed. So it reads the task again.
  await session.fetchTask();
  const [action, ...others] = shown.pending;
  const code = action?.shown ?? shown.question?.shown;
  if (code === undefined) return isWaitingFor(session, undefined) ? 'left' : 'changed';
  if (action !== undefined && isWaitingFor(session, code)) {
    terminal.say(`\n${actionText(action, terminal)}`);
    if (others.length > 0) terminal.say(terminal.paint('gray', `Then ${String(others.length)} more.`));
  }
  while (isWaitingFor(session, code)) {
    const { decision, typed, withdrawn } = await askUntilWithdrawn(terminal, { session, code }, shown);
    if (withdrawn) {
      terminal.say(`\n${withdrawnText({ view: session.view, callId: action?.callId, typed })}`);
      return 'changed';
    }
    if (decision === undefined) return 'left';
    if ((await sendTyped(terminal, session, { decision, typed })) === 'changed') return 'changed';
  }
  return 'changed';
}

/** Sends the decision. If the agent refuses it, prints why, and the typed text, which was not sent. */
async function sendTyped(
  terminal: Terminal,
  session: Session,
  { decision, typed }: { decision: PersonDecision; typed: string },
): Promise<'ask again' | 'changed'> {
  try {
    await sendDecisionsFromTerminal(session, [decision], terminal);
    return 'changed';
  } catch (error) {
    const next = error instanceof ProductError ? AFTER_REFUSAL[error.reason] : undefined;
    if (next === undefined) throw error;
    terminal.complain(inTerminalWords(errorMessageOf(error)));
    for (const line of unsentLines(typed)) terminal.say(line);
    return next;
  }
}

/**
 * Returns true if the task still waits for this decision.
 * @param code undefined if the task waits without a question, for example for a sign-in
 */
function isWaitingFor({ pendingInput, settled }: Session, code: string | undefined): boolean {
  const { pending, question } = pendingInput;
  if (code === undefined) return settled && pending.length === 0 && question === null;
  return question?.shown === code || pending.some(({ shown }) => shown === code);
}

/** Shows a question at the terminal. Resolves with the typed line. */
type Ask = (question: string) => Promise<string>;

interface Asked {
  decision: PersonDecision | undefined;
  /** The last text that the person has typed, also without Enter. */
  typed: string;
  withdrawn: boolean;
}

/** Shows the prompt, and ends it if the action no longer waits for this decision. */
async function askUntilWithdrawn(
  terminal: Terminal,
  { session, code }: { session: Session; code: string },
  shown: ShownInput,
): Promise<Asked> {
  const decided = new AbortController();
  let typed = '';
  const keep = (text: string): void => {
    if (text !== '') typed = text;
  };
  const ask: Ask = async (question) => {
    const line = await terminal.ask(question, { signal: decided.signal, onWithdrawn: keep });
    keep(line);
    return line;
  };
  const stopWatching = session.watch();
  const stopListening = session.listen(() => {
    if (!isWaitingFor(session, code)) decided.abort();
  });
  try {
    const decision = await typedDecisionOf(terminal, shown, ask);
    return { decision, typed, withdrawn: decided.signal.aborted };
  } finally {
    stopListening();
    stopWatching();
  }
}

/** Asks for a decision or an answer. Returns undefined if the person typed nothing. */
async function typedDecisionOf(
  terminal: Terminal,
  { pending: [action], question }: ShownInput,
  ask: Ask,
): Promise<PersonDecision | undefined> {
  if (action !== undefined && !action.decisions.includes('answer')) return decisionOn(terminal, action, ask);
  const prompt = `${answerPrompt(action)}; Enter leaves it waiting:`;
  const said = await ask(terminal.paint('bold', prompt));
  if (said.trim() === '') return undefined;
  if (action !== undefined)
    return {
      type: 'answer',
      callId: action.callId,
      shown: action.shown,
      answer: answerFromText(action, said),
    };
  return question === null
    ? undefined
    : { type: 'answer', callId: question.id, shown: question.shown, answer: said };
}

async function decisionOn(
  terminal: Terminal,
  action: PendingAction,
  ask: Ask,
): Promise<PersonDecision | undefined> {
  const { callId, shown, title, decisions } = action;
  // This person is not allowed to decide the action. The terminal already shows it, and says who must decide it.
  if (decisions.length === 0) return undefined;
  const named = `${withDirectionMarks(visibleLine(title, MAX_TITLE_CHARACTERS))} (${visibleLine(shown)})`;
  const other = approverInsteadOfReader(action);
  const prompt =
    other === undefined
      ? `Approve ${named}? [y/n], or n and a reason; Enter leaves it waiting:`
      : `${approvalNeededText(other)}. Deny ${named}? [n], or n and a reason; Enter leaves it waiting:`;
  for (;;) {
    const typed = parseTypedDecision(await ask(terminal.paint('bold', prompt)));
    switch (typed.type) {
      case 'leave':
        return undefined;
      case 'unclear':
        terminal.say(other === undefined ? 'Type y, n or only Enter.' : 'Type n or only Enter.');
        break;
      case 'approve':
        if (other !== undefined) {
          terminal.say('You cannot approve it. Type n or only Enter.');
          break;
        }
        return toPersonDecision({ callId, shown, decision: 'approve' });
      case 'deny':
        return toPersonDecision({ callId, shown, decision: 'deny', reason: typed.reason });
    }
  }
}
