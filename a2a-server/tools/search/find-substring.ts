/**
 * Returns a function that searches a text for the passage, such as the old text of an edit. That function returns the
 * index of the match, or -1. Its time is always proportional to the sum of the two lengths (algorithm of Knuth, Morris
 * and Pratt).
 *
 * X3: no input may block the process. `String.prototype.indexOf` is faster on ordinary text. But a hostile pair of
 * texts of two million characters keeps it busy for minutes, and JavaScript cannot interrupt it.
 *
 * @param work counts the compared characters. A caller with several searches can so limit their sum.
 */
export function createSubstringFinder(
  passage: string,
  work: { compared: number } = { compared: 0 },
): (text: string, from?: number) => number {
  const first = passage.charAt(0);
  const borders = bordersOf(passage);
  return (text, from = 0) => {
    let matched = 0;
    for (let at = from; at < text.length; at += 1) {
      if (matched === 0) {
        // `indexOf` for a single character skips most of a text quickly.
        at = text.indexOf(first, at);
        if (at === -1) return -1;
      }
      work.compared += 1;
      while (matched > 0 && text.charCodeAt(at) !== passage.charCodeAt(matched))
        matched = borders[matched - 1] ?? 0;
      if (text.charCodeAt(at) === passage.charCodeAt(matched)) matched += 1;
      if (matched === passage.length) return at - passage.length + 1;
    }
    return -1;
  };
}

/** Returns, for each prefix of the passage, the length of its longest proper prefix that is also its suffix. */
function bordersOf(passage: string): Int32Array {
  const borders = new Int32Array(passage.length);
  let border = 0;
  for (let end = 1; end < passage.length; end += 1) {
    while (border > 0 && passage.charCodeAt(end) !== passage.charCodeAt(border))
      border = borders[border - 1] ?? 0;
    if (passage.charCodeAt(end) === passage.charCodeAt(border)) border += 1;
    borders[end] = border;
  }
  return borders;
}
