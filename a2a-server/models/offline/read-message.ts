/**
 * Reads a message in the offline model's language (docs/offline-model.md). Pure and total: it never throws, whatever
 * the text, and takes time linear in it (X3).
 */
import { splitClauses, written, type Clause } from './clauses.ts';
import { append, create, edit, writeText } from './file-verbs.ts';
import { readJsonPlan } from './json-plan.ts';
import { list, read, search } from './look-verbs.ts';
import { ask, run, say, wait } from './other-verbs.ts';
import { move, remove } from './place-verbs.ts';
import type { PlannedCall, Reading, Step } from './step.ts';
import { crawl, fetchPage } from './web-verbs.ts';
import { hasColon, Unclear, wordOf, type Words } from './words.ts';

/** Longer messages are not read at all: half a message is not what was asked for. */
export const MAX_LENGTH = 1_000_000;
/** Steps of one message; what is beyond is said not to be understood, and not done. */
export const MAX_STEPS = 1_000;

type Verb = (words: Words, from: number) => PlannedCall | Step | Unclear;

const VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['create', create],
  ['make', create],
  ['write', writeText],
  ['append', append],
  ['add', append],
  ['edit', edit],
  ['replace', edit],
  ['change', edit],
  ['move', move],
  ['rename', move],
  ['delete', remove],
  ['remove', remove],
  ['read', read],
  ['show', read],
  ['list', list],
  ['search', search],
  ['find', search],
  ['grep', search],
  ['run', run],
  ['execute', run],
  ['fetch', fetchPage],
  ['download', fetchPage],
  ['crawl', crawl],
  ['wait', wait],
  ['say', say],
  ['ask', ask],
]);

const LIST_MARK = /^(?:\d{1,6}[.)]|[-*•])$/;
/** What lets a task go on that has asked whether it may, and asks for nothing else. */
const NODS = new Set(['go on', 'carry on', 'continue', 'proceed', 'yes', 'ok', 'okay']);
const POLITE = new Set(['please', 'now', 'also', 'and', 'first', 'next', 'finally', 'lastly', 'kindly']);

export function readMessage(text: string): Reading {
  if (text.length > MAX_LENGTH)
    return { steps: [], misread: [{ text, why: `it is longer than ${MAX_LENGTH} characters` }] };
  const clauses = splitClauses(text);
  const parts = clauses.slice(0, MAX_STEPS).map(readClause);
  const steps = parts.flatMap((part) => part.steps);
  const misread = parts.flatMap((part) => part.misread);
  const beyond = Math.max(0, clauses.length - MAX_STEPS) + steps.splice(MAX_STEPS).length;
  if (beyond > 0) misread.push({ text: `${beyond} more`, why: `a message has at most ${MAX_STEPS} steps` });
  return { steps, misread };
}

function readClause(clause: Clause): Reading {
  if (clause.type === 'json') return readJsonPlan(clause.source);
  const start = opening(clause);
  if (start === clause.tokens.length || isNod(clause, start)) return { steps: [], misread: [] };
  const verb = VERBS.get(wordOf(clause.tokens[start]));
  if (verb === undefined)
    return fencedPlan(clause) ?? unclear(clause, start, 'it starts with no verb I know');
  const step = verb(clause, start + 1);
  if (step instanceof Unclear) return unclear(clause, start, step.why);
  return { steps: ['type' in step ? step : { type: 'call', ...step }], misread: [] };
}

/** Past list marks and politeness. */
function opening(words: Words): number {
  const first = words.tokens[0];
  let at = first?.type === 'word' && LIST_MARK.test(first.text) ? 1 : 0;
  while (POLITE.has(wordOf(words.tokens[at]))) at += 1;
  if (/^(?:can|could|would)$/.test(wordOf(words.tokens[at])) && wordOf(words.tokens[at + 1]) === 'you')
    at += 2;
  while (POLITE.has(wordOf(words.tokens[at]))) at += 1;
  return at;
}

function isNod({ tokens }: Words, from: number): boolean {
  const words = tokens.slice(from).map(wordOf);
  return NODS.has(words.filter((word) => !POLITE.has(word)).join(' '));
}

/** A plan in a Markdown fence, alone or after a few words of introduction that end with a colon. */
function fencedPlan(words: Words): Reading | undefined {
  const last = words.tokens.at(-1);
  const before = words.tokens.at(-2);
  if (last?.type !== 'quoted' || !last.fence) return undefined;
  if (before !== undefined && !hasColon(before)) return undefined;
  return readJsonPlan(last.text.trim());
}

function unclear(words: Words, from: number, why: string): Reading {
  return { steps: [], misread: [{ text: written(words, from), why }] };
}
