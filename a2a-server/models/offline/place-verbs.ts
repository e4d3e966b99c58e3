/** The verbs that change where a file is, or whether: move / rename, delete / remove. */
import type { PlannedCall } from './step.ts';
import { TOOL } from './tool-names.ts';
import { nameOf, skip, Unclear, wordOf, type Words } from './words.ts';

const BEFORE_FILE = new Set(['the', 'file']);
const BEFORE_ANY = new Set(['the', 'file', 'empty', 'directory', 'folder', 'link']);
const TO = new Set(['to', 'as', 'into']);

/** `move PATH to PATH`, `rename PATH to PATH` */
export function move(words: Words, from: number): PlannedCall | Unclear {
  const at = skip(words, from, BEFORE_FILE);
  const [path, joint, to, more] = words.tokens.slice(at, at + 4);
  if (path === undefined || to === undefined || more !== undefined || !TO.has(wordOf(joint)))
    return new Unclear(
      'expected the name of a file, `to`, and its new name; a name with spaces goes in quotes',
    );
  return { tool: TOOL.move, input: { path: nameOf(path), to: nameOf(to) } };
}

/** `delete PATH`, `delete PATH recursively` */
export function remove(words: Words, from: number): PlannedCall | Unclear {
  const at = skip(words, from, BEFORE_ANY);
  const [path, how, more] = words.tokens.slice(at, at + 3);
  const recursive = wordOf(how) === 'recursively';
  if (path === undefined || more !== undefined || (how !== undefined && !recursive))
    return new Unclear(
      'expected the name of one file or directory, and `recursively` if all it holds is meant',
    );
  return { tool: TOOL.delete, input: { path: nameOf(path), ...(recursive && { recursive }) } };
}
