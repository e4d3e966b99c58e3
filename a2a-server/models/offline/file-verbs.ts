/** The verbs that change a file: create / write, append, edit (replace … with …). */
import type { PlannedCall } from './step.ts';
import { TOOL } from './tool-names.ts';
import { hasColon, nameOf, skip, textOf, Unclear, wordOf, type Words } from './words.ts';

const BEFORE_PATH = new Set(['a', 'an', 'the', 'new', 'empty', 'text', 'file', 'named', 'called']);
const WITH = new Set(['with', 'containing', 'saying']);
const ARTICLE = new Set(['the', 'a']);
const CONTENT = new Set(['content', 'contents', 'text', 'line']);
const TO = new Set(['to', 'into', 'in']);
const THE_FILE = new Set(['the', 'file']);
const REPLACE: Readonly<Record<string, string>> = { replace: 'with', change: 'to' };
const JOINTS = new Set(Object.values(REPLACE));

/** `create PATH [with TEXT]`, `create PATH: TEXT`. Without a text the file is empty. */
export function create(words: Words, from: number): PlannedCall | Unclear {
  const at = skip(words, from, BEFORE_PATH);
  const name = words.tokens[at];
  if (name === undefined) return new Unclear('the name of the file is missing');
  if (words.tokens[at + 1] === undefined) return write(nameOf(name), '');
  const content = contentAfter(words, at);
  if (content === undefined)
    return new Unclear(
      'after the name of the file, `with` and the text are expected; a name with spaces goes in quotes',
    );
  return content instanceof Unclear ? content : write(nameOf(name), content);
}

/** `write TEXT to PATH`, or any form of `create` that has a text. */
export function writeText(words: Words, from: number): PlannedCall | Unclear {
  const at = skip(words, from, BEFORE_PATH);
  const name = words.tokens[at];
  if (name !== undefined && contentAfter(words, at) !== undefined) return create(words, from);
  const target = textTo(words, from);
  return target instanceof Unclear ? target : write(target.path, target.text);
}

/** `append TEXT to PATH`, `append to PATH: TEXT`, `append to PATH with TEXT`. The text is added exactly as it is. */
export function append(words: Words, from: number): PlannedCall | Unclear {
  const target = wordOf(words.tokens[from]) === 'to' ? toThenText(words, from + 1) : textTo(words, from);
  if (target instanceof Unclear) return target;
  if (target.text === '') return new Unclear('the text to append is empty');
  return { tool: TOOL.append, input: { path: target.path, content: target.text } };
}

/** `replace X with Y in PATH`, `change X to Y in PATH`, and `edit PATH: replace X with Y`. */
export function edit(words: Words, from: number): PlannedCall | Unclear {
  const verb = wordOf(words.tokens[from - 1]);
  if (Object.hasOwn(REPLACE, verb)) return replacement(words, from, verb);
  const at = skip(words, from, THE_FILE);
  const name = words.tokens[at];
  let inner = at + 1;
  if (wordOf(words.tokens[inner]) === 'and') inner += 1;
  const change = wordOf(words.tokens[inner]);
  if (name === undefined || !Object.hasOwn(REPLACE, change))
    return new Unclear('expected `edit PATH: replace "X" with "Y"` or `replace "X" with "Y" in PATH`');
  return (
    severalReplacements(words, inner + 1, nameOf(name)) ?? replacement(words, inner + 1, change, nameOf(name))
  );
}

/** `"X" with "Y" and "Z" with "W" …`, all quoted, so that nobody wonders where a text ends; undefined for fewer than two. */
function severalReplacements({ tokens }: Words, from: number, path: string): PlannedCall | undefined {
  const edits: { oldText: string; newText: string }[] = [];
  let at = from;
  for (;;) {
    const [oldText, joint, newText, and] = tokens.slice(at, at + 4);
    if (oldText?.type !== 'quoted' || newText?.type !== 'quoted' || !JOINTS.has(wordOf(joint)))
      return undefined;
    edits.push({ oldText: oldText.text, newText: newText.text });
    if (and === undefined) break;
    if (wordOf(and) !== 'and') return undefined;
    at += Object.hasOwn(REPLACE, wordOf(tokens[at + 4])) ? 5 : 4;
  }
  const possible = edits.length > 1 && edits.every(({ oldText }) => oldText !== '');
  return possible ? { tool: TOOL.multiEdit, input: { path, edits } } : undefined;
}

function replacement(words: Words, from: number, verb: string, named?: string): PlannedCall | Unclear {
  const joint = REPLACE[verb] ?? '';
  const middle = indexOfWord(words, joint, from + 1);
  if (middle === -1) return new Unclear(`\`${joint}\` and the new text are missing`);
  const place =
    named === undefined ? placeAfter(words, middle + 2) : { path: named, at: words.tokens.length };
  if (place === undefined) return new Unclear('`in` and the name of the file are missing');
  const oldText = textOf(words, from, middle);
  const newText = textOf(words, middle + 1, place.at);
  if (oldText instanceof Unclear) return oldText;
  if (newText instanceof Unclear) return newText;
  if (oldText === '') return new Unclear('the text to replace is empty');
  return { tool: TOOL.edit, input: { path: place.path, oldText, newText } };
}

/** The text of `NAME: TEXT` or `NAME with [the] [content] TEXT`; undefined when neither stands there. */
function contentAfter(words: Words, name: number): string | Unclear | undefined {
  const token = words.tokens[name];
  if (words.tokens[name + 1] === undefined) return undefined;
  if (hasColon(token)) return textOf(words, name + 1);
  if (!WITH.has(wordOf(words.tokens[name + 1]))) return undefined;
  return textOf(words, contentStart(words, name + 2));
}

/** Past `the content`, unless that is all there is: then it is the text. */
function contentStart(words: Words, from: number): number {
  const at = skip(words, from, ARTICLE);
  if (!CONTENT.has(wordOf(words.tokens[at]))) return from;
  return words.tokens[at + 1] === undefined ? from : at + 1;
}

function textTo(words: Words, from: number): { text: string; path: string } | Unclear {
  const place = placeAfter(words, from + 1);
  if (place === undefined) return new Unclear('expected a text, then `to` and the name of the file');
  const start = contentStart(words, from);
  const text = textOf(words, start < place.at ? start : from, place.at);
  return text instanceof Unclear ? text : { text, path: place.path };
}

function toThenText(words: Words, from: number): { text: string; path: string } | Unclear {
  const at = skip(words, from, THE_FILE);
  const name = words.tokens[at];
  if (name === undefined) return new Unclear('the name of the file is missing');
  const text = contentAfter(words, at);
  if (text === undefined) return new Unclear('the text to append is missing');
  return text instanceof Unclear ? text : { text, path: nameOf(name) };
}

/** `… to [the file] PATH` at the end of the clause: the name, and where its `to` stands. */
function placeAfter(words: Words, from: number): { path: string; at: number } | undefined {
  const name = words.tokens.at(-1);
  let at = words.tokens.length - 2;
  while (at >= from && THE_FILE.has(wordOf(words.tokens[at]))) at -= 1;
  return name !== undefined && at >= from && TO.has(wordOf(words.tokens[at]))
    ? { path: nameOf(name), at }
    : undefined;
}

function indexOfWord(words: Words, word: string, from: number): number {
  return words.tokens.findIndex((token, at) => at >= from && wordOf(token) === word);
}

function write(path: string, content: string): PlannedCall {
  return { tool: TOOL.write, input: { path, content } };
}
