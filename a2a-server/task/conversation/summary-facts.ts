/**
 * Lists the facts that a summary of old turns must not lose: the person's decisions, open questions and files. The
 * facts come from the journal. They do not depend on the model that writes the summary. Pure.
 */
import { answerText } from '../../../shared/protocol/preview-text.ts';
import { collapsedLine } from '../../../shared/text/shortened-text.ts';
import { userMessageText } from './conversation.ts';
import type { TurnRef } from '../events.ts';
import { unansweredQuestionOf, questionSentences } from './find-questions.ts';
import { isContentFiltered, contentFilteredItems } from './content-filtered-items.ts';
import { callsOfTurn, questionOfCall, type Call, type Snapshot, type Turn } from '../snapshot.ts';

const MAX_LINE_CHARS = 300;
/** The share of the space that each kind of fact can use, even if the other kinds need more. */
const MIN_GROUP_SHARE = 1 / 8;

interface SummarizedItems {
  /** The person's messages. The current task's first message is missing, because the conversation always keeps it. */
  messages: readonly string[];
  /** The agent's answers, i.e. the text of turns without tool calls. */
  answers: readonly string[];
  calls: readonly Call[];
}

interface FactGroup {
  head: string;
  /** The facts, one per line, oldest first. */
  lines: readonly string[];
}

/**
 * Returns the facts as text. Returns '' if there are no facts or no space.
 * @param tasks the session's earlier tasks, oldest first, and the current task
 * @param upTo the last turn that the summary replaces
 * @param bytes the maximum length of the text in UTF-8
 */
export function summaryFacts(tasks: readonly Snapshot[], upTo: TurnRef, bytes: number): string {
  const { messages, answers, calls } = coveredBy(tasks, upTo);
  const todos = calls.findLast((call) => call.todos !== undefined)?.todos ?? [];
  const changed = newestOfEach(calls.flatMap(({ saved = [] }) => saved.map(({ path }) => path)));
  const read = newestOfEach(calls.flatMap(sourcesRead)).filter((path) => !changed.includes(path));
  // The most important group is first, because earlier groups get their space first.
  const groups: readonly FactGroup[] = [
    { head: 'The to-do list:', lines: todos.map(({ text, status }) => `[${status}] ${oneLine(text)}`) },
    { head: 'The person wrote:', lines: messages.map(oneLine) },
    { head: 'The person refused, changed or answered:', lines: calls.flatMap(personResponseLines) },
    { head: 'Questions without an answer:', lines: calls.flatMap(unansweredQuestionOf).map(oneLine) },
    { head: 'The agent asked in its answers:', lines: answers.flatMap(questionSentences).map(oneLine) },
    { head: 'Changed files:', lines: changed },
    { head: 'The person approved:', lines: calls.filter(isApproved).map(({ title }) => oneLine(title)) },
    { head: 'Files and pages that were only read:', lines: read },
  ];
  return sectionsOf(groups, bytes).join('\n');
}

/** Formats the groups. Even after a long group, each later group gets its minimum share of the space. */
function sectionsOf(groups: readonly FactGroup[], bytes: number): string[] {
  const share = Math.floor(bytes * MIN_GROUP_SHARE);
  const reserved = groups.map((group) => lengthWithBreak(sectionOf(group, share)));
  const sections: string[] = [];
  let room = bytes;
  for (const [index, group] of groups.entries()) {
    const later = reserved.slice(index + 1).reduce((sum, length) => sum + length, 0);
    const section = sectionOf(group, room - later);
    if (section !== '') sections.push(section);
    room -= lengthWithBreak(section);
  }
  return sections;
}

function lengthWithBreak(section: string): number {
  return section === '' ? 0 : Buffer.byteLength(section) + 1;
}

/** Removes repeated texts. The last occurrence of each text stays, because a full group drops its oldest lines. */
function newestOfEach(texts: readonly string[]): string[] {
  return [...new Set(texts.toReversed())].toReversed();
}

function coveredBy(tasks: readonly Snapshot[], upTo: TurnRef): SummarizedItems {
  const end = tasks.findIndex(({ taskId }) => taskId === upTo.taskId);
  const parts = tasks.slice(0, end + 1).map((task, index) => {
    const last = index === end ? upTo.turn : Infinity;
    const after = task.exchanges.findIndex((each) => each.type === 'turn' && each.turn.turn > last);
    const exchanges = after === -1 ? task.exchanges : task.exchanges.slice(0, after);
    const turns = exchanges.flatMap((each): Turn[] => (each.type === 'turn' ? [each.turn] : []));
    // A message whose answer the provider withheld is left out. Otherwise the provider would withhold the next answers
    // too.
    const withheld = contentFilteredItems(task.exchanges);
    const inTurns = exchanges.flatMap((each) =>
      each.type === 'message' ? [withheld.has(each) ? [] : [each.message]] : [],
    );
    // An earlier task may have ended before the model read its last messages, which are then still in `queued`.
    const messages = [...inTurns, ...(index === end ? [] : [task.queued])];
    return {
      messages: (index === tasks.length - 1 ? messages.slice(1) : messages).flat().map(userMessageText),
      answers: turns.flatMap((each) =>
        each.callIds.length === 0 && !isContentFiltered(each) ? [each.text] : [],
      ),
      calls: turns.flatMap((turn) => callsOfTurn(task, turn)),
    };
  });
  return {
    messages: parts.flatMap(({ messages }) => messages),
    answers: parts.flatMap(({ answers }) => answers),
    calls: parts.flatMap(({ calls }) => calls),
  };
}

/** Returns a line for a person's refusal, edit or answer, with the person's words. */
function personResponseLines(call: Call): string[] {
  const { state, originalInput } = call;
  const title = oneLine(call.title);
  if (state.type !== 'settled') return [];
  const { result } = state;
  if (result.type === 'answered') {
    const asked = questionOfCall(call)?.text ?? call.title;
    return [`${oneLine(asked)} — ${oneLine(answerText(result.answer))}`];
  }
  if (result.type === 'denied' && questionOfCall(call) !== undefined) return [];
  if (result.type === 'denied' || result.type === 'skipped')
    return [`${result.type}: ${title}${result.reason === null ? '' : ` (${oneLine(result.reason)})`}`];
  return originalInput === null ? [] : [`changed and approved: ${title}`];
}

function isApproved({ decided, originalInput }: Call): boolean {
  return decided?.decision === 'approve' && originalInput === null;
}

/** The built-in tools that read, each with the input that names its source. */
const READING_TOOLS: Readonly<Record<string, string>> = { 'read-file': 'path', fetch: 'url', crawl: 'url' };
/** The usual names of the input that names the source, in tools of MCP servers. */
const SOURCE_INPUT = /^(?:path|file|file_?path|file_?name|uri|url)s?$/i;

/**
 * Returns the paths and URLs in the input of a tool call that has read them. Only built-in tools that read, and
 * read-only tools of MCP servers, give such paths and URLs.
 */
function sourcesRead({ tool, source, sideEffect, state, input }: Call): string[] {
  if (state.type !== 'settled' || state.result.type !== 'ran' || state.result.outcome.type !== 'ok')
    return [];
  const isSource = (name: string): boolean =>
    source.type === 'built-in'
      ? READING_TOOLS[tool] === name
      : source.type === 'mcp-server' && sideEffect === 'none' && SOURCE_INPUT.test(name);
  return Object.entries(input)
    .filter(([name]) => isSource(name))
    .flatMap(([, value]): unknown[] => (Array.isArray(value) ? value : [value]))
    .flatMap((value) => (typeof value === 'string' && value !== '' ? [oneLine(value)] : []));
}

function oneLine(text: string): string {
  return collapsedLine(text, MAX_LINE_CHARS);
}

/** Formats one group. If not all lines fit, the newest lines stay. If no line fits, only the number of lines stays. */
function sectionOf({ head, lines }: FactGroup, room: number): string {
  const shown: string[] = [];
  const left = (): number => lines.length - shown.length;
  const text = (): string =>
    [head, ...(left() > 0 ? [`- (${String(left())} earlier ones are not listed)`] : []), ...shown].join('\n');
  for (const each of lines.toReversed()) {
    shown.unshift(`- ${each}`);
    if (Buffer.byteLength(text()) <= room) continue;
    shown.shift();
    break;
  }
  if (shown.length > 0) return text();
  const counted = `${head} ${String(lines.length)}, not listed.`;
  return lines.length > 0 && Buffer.byteLength(counted) <= room ? counted : '';
}
