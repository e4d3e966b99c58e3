/** Finds the colours of code with highlight.js. Pure. The colours never change the text. */
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import makefile from 'highlight.js/lib/languages/makefile';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import { type Highlighter, type HighlightedPiece, unhighlightedLines } from './code-pieces.ts';

const LANGUAGES = {
  bash,
  c,
  cpp,
  csharp,
  css,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  makefile,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};

/**
 * The maximum number of characters that highlight.js gets in one call. highlight.js needs cubic time for some texts
 * that an agent can choose. So the page passes a few lines at a time, which takes less than 0.2 s for the worst known
 * text. The Markdown grammar of highlight.js takes longer, so Markdown has no colours.
 */
const MAX_CHARS_AT_ONCE = 2_000;
/** The page stops colouring a text after this time, in milliseconds. The rest of the text has no colours. */
const MAX_MS = 100;

const lowlight = createLowlight(LANGUAGES);
// highlight.js assigns no language to these extensions, or a language that colours less.
lowlight.registerAlias({ xml: 'htm', css: 'scss', cpp: 'h' });

export const highlightedLines: Highlighter = (text, language) => {
  if (!lowlight.registered(language)) return unhighlightedLines(text, language);
  const end = performance.now() + MAX_MS;
  return partsOf(text).flatMap((part, index) => {
    const isLate = index > 0 && performance.now() > end;
    return isLate || part.length > MAX_CHARS_AT_ONCE
      ? unhighlightedLines(part, language)
      : highlightedPart(part, language);
  });
};

/** Splits a text between lines. Only a part with a single line can be longer than the maximum. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let part: string | undefined;
  for (const line of text.split('\n')) {
    if (part !== undefined && part.length + line.length >= MAX_CHARS_AT_ONCE) {
      parts.push(part);
      part = line;
    } else part = part === undefined ? line : `${part}\n${line}`;
  }
  return [...parts, part ?? ''];
}

function highlightedPart(text: string, language: string): HighlightedPiece[][] {
  const lines: HighlightedPiece[][] = [[]];
  const add = (value: string, kind: string | undefined): void => {
    for (const [at, piece] of value.split('\n').entries()) {
      if (at > 0) lines.push([]);
      if (piece !== '') lines.at(-1)?.push({ text: piece, ...(kind !== undefined && { kind }) });
    }
  };
  const walk = (nodes: Nodes, kind?: string): void => {
    for (const node of nodes) {
      if (node.type === 'text') add(node.value, kind);
      if (node.type === 'element') walk(node.children, kindOf(node.properties.className) ?? kind);
    }
  };
  walk(lowlight.highlight(language, text, { prefix: '' }).children);
  return lines;
}

type Nodes = ReturnType<typeof lowlight.highlight>['children'];

/**
 * Returns the kind of a highlighted piece, which is its first class. Further classes refine the kind, such as `title
 * function_`.
 */
function kindOf(className: unknown): string | undefined {
  const first: unknown = Array.isArray(className) ? className[0] : undefined;
  return typeof first === 'string' ? first : undefined;
}
