import type { HighlightedPiece } from './code-pieces.ts';
import { inLogicalOrder } from '../in-logical-order.tsx';

/** Shows the pieces of one line. Only the names of the classes come from highlight.js. */
export function ColouredText({ pieces }: { pieces: readonly HighlightedPiece[] }) {
  return (
    <>
      {pieces.map(({ text, kind }, index) =>
        kind === undefined ? (
          inLogicalOrder(text)
        ) : (
          <span key={index} class={`code-${kind}`}>
            {inLogicalOrder(text)}
          </span>
        ),
      )}
    </>
  );
}
