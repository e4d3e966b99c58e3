/**
 * Lists the facts that a summary of old turns must not lose: the person's messages and decisions, the changed files,
 * and the to-do list. The facts come from the journal. So they do not depend on the model that writes the summary.
 * Pure.
 */
import { answerText } from '../../shared/protocol/preview-text.ts';
import { collapseWhitespace } from '../../shared/text/capped-text.ts';
import { messageText } from './conversation.ts';
import type { TurnPlace } from './events.ts';
import { callsOf, questionOf, type Call, type Snapshot, type Turn } from './snapshot.ts';

/** The limit of one message, title or reason, in characters. */
const LONGEST = 300;

interface Covered {
  /** The person's messages, without the current task's first message, which always stays. */
  messages: readonly string[];
  calls: readonly Call[];
}

/**
 * @param tasks the session's earlier tasks, oldest first, and the current task
 * @param upTo the last turn that the summary replaces
 * @param chars the maximum length
 * @returns '' if there is no such fact, or no space
 */
export function summaryFacts(tasks: readonly Snapshot[], upTo: TurnPlace, chars: number): string {
  const { messages, calls } = coveredBy(tasks, upTo);
  const todos = calls.findLast((call) => call.todos !== undefined)?.todos ?? [];
  const files = new Set(calls.flatMap(({ saved = [] }) => saved.map(({ path }) => path)));
  // The groups are in order of importance, because earlier groups get their space first.
  const groups: { head: string; lines: readonly string[] }[] = [
    { head: 'The to-do list:', lines: todos.map(({ text, status }) => `[${status}] ${line(text)}`) },
    { head: 'The person wrote:', lines: messages.map(line) },
    { head: 'The person refused, changed or answered:', lines: calls.flatMap(objection) },
    { head: 'Changed files:', lines: [...files] },
    { head: 'The person approved:', lines: calls.filter(isApproved).map(({ title }) => line(title)) },
  ];
  const sections: string[] = [];
  let room = chars;
  for (const { head, lines } of groups) {
    const section = sectionOf(head, lines, room);
    if (section === '') continue;
    sections.push(section);
    room -= section.length + 1;
  }
  return sections.join('\n');
}

function coveredBy(tasks: readonly Snapshot[], upTo: TurnPlace): Covered {
  const end = tasks.findIndex(({ taskId }) => taskId === upTo.taskId);
  const parts = tasks.slice(0, end + 1).map((task, index) => {
    const last = index === end ? upTo.turn : Infinity;
    const after = task.exchanges.findIndex((each) => each.type === 'turn' && each.turn.turn > last);
    const exchanges = after === -1 ? task.exchanges : task.exchanges.slice(0, after);
    const turns = exchanges.flatMap((each): Turn[] => (each.type === 'turn' ? [each.turn] : []));
    const messages = exchanges.flatMap((each) =>
      each.type === 'message' ? [messageText(each.message)] : [],
    );
    return {
      messages: index === tasks.length - 1 ? messages.slice(1) : messages,
      calls: turns.flatMap((turn) => callsOf(task, turn)),
    };
  });
  return {
    messages: parts.flatMap(({ messages }) => messages),
    calls: parts.flatMap(({ calls }) => calls),
  };
}

/** A refusal, an edit or an answer, with the person's words. */
function objection(call: Call): string[] {
  const { state, originalInput } = call;
  const title = line(call.title);
  if (state.type !== 'settled') return [];
  const { result } = state;
  if (result.type === 'answered') {
    const asked = questionOf(call)?.text ?? call.title;
    return [`${line(asked)} — ${line(answerText(result.answer))}`];
  }
  if (result.type === 'denied' || result.type === 'skipped')
    return [`${result.type}: ${title}${result.reason === null ? '' : ` (${line(result.reason)})`}`];
  return originalInput === null ? [] : [`changed and approved: ${title}`];
}

function isApproved({ decided, originalInput }: Call): boolean {
  return decided?.decision === 'approve' && originalInput === null;
}

function line(text: string): string {
  return collapseWhitespace(text, LONGEST);
}

/** If not all lines fit, keeps the newest lines. */
function sectionOf(head: string, lines: readonly string[], room: number): string {
  const shown: string[] = [];
  const left = (): number => lines.length - shown.length;
  const text = (): string =>
    [head, ...(left() > 0 ? [`- (${String(left())} earlier ones are not listed)`] : []), ...shown].join('\n');
  for (const each of lines.toReversed()) {
    shown.unshift(`- ${each}`);
    if (text().length <= room) continue;
    shown.shift();
    break;
  }
  return shown.length === 0 ? '' : text();
}
