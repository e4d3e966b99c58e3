/** Chooses the dialect of an agent. If the settings name no dialect, the agent's card determines it. */
import { TOOL_APPROVAL_EXTENSION } from '../../shared/protocol/tool-approval.ts';
import type { Dialect, DialectName } from './dialect.ts';
import { geminiDialect, type AgentCardIdentity, isGemini } from './gemini-cli.ts';
import { toolApprovalDialect } from './tool-approval.ts';
import { plainA2aDialect } from './plain-a2a.ts';

const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  'tool-approval': toolApprovalDialect,
  plain: plainA2aDialect,
  gemini: geminiDialect,
};

export function chooseDialect(card: AgentCardIdentity, set?: DialectName): Dialect {
  if (set !== undefined) return DIALECTS[set];
  if (card.extensions.includes(TOOL_APPROVAL_EXTENSION)) return toolApprovalDialect;
  return isGemini(card) ? geminiDialect : plainA2aDialect;
}
