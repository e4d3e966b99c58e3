/** What a model is given of a result that is longer than it should read unasked. Pure. */
import { capped } from '../../shared/text/capped-text.ts';
import { wholeIn } from '../tools/builtin/read-output.ts';

/** Characters. Above what built-in tools give of themselves, so that a page that was asked for in full is given in full. */
const MAX_RESULT = 105_000;
/** Characters that are shown of a longer one, half of them from each end. */
const SHOWN = 30_000;

/** @returns undefined for a result that can be given as it is. */
export function headAndTail(text: string, toolId: string): string | undefined {
  return text.length <= MAX_RESULT ? undefined : `${capped(text, SHOWN)}\n${wholeIn(toolId)}`;
}
