import type { ComponentChildren } from 'preact';
import type { HighlightedPiece } from './code-pieces.ts';

/**
 * Shows the pieces of one line. Only the names of the classes come from highlight.js.
 * @param show returns the content for the text of a piece
 */
export function ColouredText({
  pieces,
  show = (text) => text,
}: {
  pieces: readonly HighlightedPiece[];
  show?: (text: string) => ComponentChildren;
}) {
  return (
    <>
      {pieces.map(({ text, kind }, index) =>
        kind === undefined ? (
          show(text)
        ) : (
          <span key={index} class={`code-${kind}`}>
            {show(text)}
          </span>
        ),
      )}
    </>
  );
}
