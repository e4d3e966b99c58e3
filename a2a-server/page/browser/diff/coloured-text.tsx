import type { HighlightedPiece } from './code-pieces.ts';

/** Shows the pieces of one line. Only the names of the classes come from highlight.js. */
export function ColouredText({ pieces }: { pieces: readonly HighlightedPiece[] }) {
  return (
    <>
      {pieces.map(({ text, kind }, index) =>
        kind === undefined ? (
          text
        ) : (
          <span key={index} class={`code-${kind}`}>
            {text}
          </span>
        ),
      )}
    </>
  );
}
