/**
 * Compares a file with the content that the person saw in an agent's proposal. D2: a decision is valid only for what
 * the person saw. But some agents later apply the proposal without a check that the file is still the same. Pure.
 */
import { shownCode } from '../../shared/protocol/shown-code.ts';
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import { unifiedFileDiff } from '../../shared/text/unified-diff.ts';

export interface AgentProposal {
  /**
   * Identifies one proposal of the agent. E2: an approved call runs at most once, so each proposal gets one decision.
   */
  code: string;
  /** The file that the call would change. Null if the call changes no file. */
  file: FileProposal | null;
}

export interface FileProposal {
  /** An absolute path on the agent's machine. */
  path: string;
  /** The old content of the file, which the diff for the person is based on. '' if the file did not exist. */
  before: string;
  /** The complete new content that the agent proposes. */
  after: string;
  /** The replacement, if the agent replaces only the text `from` with `to`. Otherwise null. */
  part: { from: string; to: string } | null;
}

/**
 * Returns true if the file still has the content that the person saw. Byte order marks and CR before LF are ignored,
 * because the agent removes them.
 */
export function isFileUnchanged({ before }: FileProposal, now: string): boolean {
  return withoutBomAndCr(before) === withoutBomAndCr(now);
}

/** Returns the action with a diff against the current file. It has a new code, because the person must decide again. */
export function withCurrentDiff(
  action: PendingAction,
  file: FileProposal,
  now: string,
): { action: PendingAction; file: FileProposal } {
  const shown = shownCode(action.shown, now);
  const preview = { type: 'diff', path: file.path, diff: currentDiff(file, now) } as const;
  return {
    action: { ...action, shown, preview, reason: 'content-changed' },
    file: { ...file, before: now },
  };
}

function currentDiff({ path, after, part }: FileProposal, now: string): string {
  const whole =
    part && withoutBomAndCr(now).includes(part.from) ? replaceText(withoutBomAndCr(now), part) : after;
  return unifiedFileDiff(path.replace(/^\/+/, ''), withoutBomAndCr(now), whole);
}

function replaceText(text: string, { from, to }: { from: string; to: string }): string {
  return text.replaceAll(from, () => to);
}

function withoutBomAndCr(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}
