import type { HighlightedPiece } from './code-pieces.ts';
import { isolateRightToLeft } from '../isolate-right-to-left.tsx';

/** Shows the pieces of one line. Only the names of the classes come from highlight.js. */
export function ColouredText({ pieces }: { pieces: readonly HighlightedPiece[] }) {
  return (
    <>
      {pieces.map(({ text, kind }, index) =>
        kind === undefined ? (
          isolateRightToLeft(text)
        ) : (
          <span key={index} class={`code-${kind}`}>
            {isolateRightToLeft(text)}
          </span>
        ),
      )}
    </>
  );
}
