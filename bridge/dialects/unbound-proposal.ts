/**
 * Represents a proposed change by an agent that does not bind a decision to the action. The bridge binds the decision
 * instead. It compares the file with the content that the person saw (D2). Pure.
 */
import { shownCode } from '../../shared/protocol/shown-code.ts';
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import { unifiedDiff } from '../../shared/text/unified-diff.ts';

export interface Proposal {
  /** Identifies the agent's proposal. Each proposal gets one decision (E2). */
  code: string;
  /** The file that the call would change; null for any other call. */
  file: FileProposal | null;
}

export interface FileProposal {
  /** An absolute path on the agent's machine. */
  path: string;
  /** The old content in the diff that the person saw; '' if there was no file. */
  before: string;
  /** The complete new content that the agent proposes. */
  after: string;
  /** Set if the agent replaces only the text `from` by `to`. */
  part: { from: string; to: string } | null;
}

/**
 * Returns true if the file still has the content that the person saw. Ignores byte order marks, and CR before LF,
 * because the agent removes them.
 */
export function isFileUnchanged({ before }: FileProposal, now: string): boolean {
  return plain(before) === plain(now);
}

/** Returns the action with a diff against the current file. The person must decide it again, so it gets a new code. */
export function outdatedAction(
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
  const whole = part && plain(now).includes(part.from) ? replaced(plain(now), part) : after;
  return unifiedDiff(path.replace(/^\/+/, ''), plain(now), whole);
}

function replaced(text: string, { from, to }: { from: string; to: string }): string {
  return text.replaceAll(from, () => to);
}

function plain(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}
