/** Which dialect an agent speaks: as set, or else as its card tells. */
import { TOOL_APPROVAL } from '../../shared/protocol/tool-approval.ts';
import type { Dialect, DialectName } from './dialect.ts';
import { geminiDialect, type Identity, isGemini } from './gemini.ts';
import { nativeDialect } from './native.ts';
import { plainDialect } from './plain.ts';

const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  'tool-approval': nativeDialect,
  plain: plainDialect,
  gemini: geminiDialect,
};

export function chooseDialect(card: Identity, set?: DialectName): Dialect {
  if (set !== undefined) return DIALECTS[set];
  if (card.extensions.includes(TOOL_APPROVAL)) return nativeDialect;
  return isGemini(card) ? geminiDialect : plainDialect;
}
