/** Shortens a tool result that is too long for the model. Pure. */
import { capText } from '../../shared/text/capped-text.ts';
import { readOutputHint } from '../tools/builtin/read-output.ts';

/** Characters. This is above the limits of the built-in tools, so that a fully requested page stays complete. */
const MAX_RESULT = 105_000;
/** Characters shown of a longer result, half from each end. */
const SHOWN = 30_000;

/** @returns undefined for a result that fits unchanged. */
export function headAndTail(text: string, toolId: string): string | undefined {
  return text.length <= MAX_RESULT ? undefined : `${capText(text, SHOWN)}\n${readOutputHint(toolId)}`;
}
