/** Splits lines of code into pieces, so that each kind of word can have its own colour. Pure. */
import { createContext } from 'preact';

/** A part of one line. `kind` is a class of highlight.js without its prefix. */
export interface HighlightedPiece {
  text: string;
  kind?: string;
}

/**
 * Returns the name by which highlight.js finds the language of a file: the extension, or the whole name of a file
 * without extension.
 */
export function highlightLanguageOf(path: string): string {
  const [name = ''] = path.toLowerCase().split('/').slice(-1);
  return name.split('.').at(-1) ?? '';
}

/**
 * Splits the lines of a text into pieces. The pieces together are exactly the text. A text in an unknown language has no
 * colours.
 */
export type Highlighter = (text: string, language: string) => HighlightedPiece[][];

/** Splits a text into lines without colours. */
export const unhighlightedLines: Highlighter = (text) => text.split('\n').map((line) => [{ text: line }]);

/**
 * The highlighter for the code of diffs. Only the approval page provides one. The approval card is one file, and the
 * highlighter would make that file much larger.
 */
export const HighlighterContext = createContext<Highlighter>(unhighlightedLines);
