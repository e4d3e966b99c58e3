/**
 * An agent's proposal, for agents that do not bind a decision to the action. The bridge binds the decision instead: it
 * compares the file with the content that the person saw (D2). Pure.
 */
import { shownCode } from '../../shared/protocol/shown-code.ts';
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import { unifiedDiff } from '../../shared/text/unified-diff.ts';

export interface Proposal {
  /** Identifies the agent's question, however the bridge shows it. Each proposal gets one decision (E2). */
  code: string;
  /** The file that the call would change; null for any other call. */
  file: FileProposal | null;
}

export interface FileProposal {
  /** Absolute, on the agent's machine. */
  path: string;
  /** The old content in the diff that the person saw; '' if there was no file. */
  before: string;
  /** The whole new content that the agent proposes. */
  after: string;
  /** Set if the agent replaces only `from` by `to`. */
  part: { from: string; to: string } | null;
}

/** Whether the file still has the content that the person saw. The agent removes byte order marks, and CR before LF. */
export function isFileUnchanged({ before }: FileProposal, now: string): boolean {
  return plain(before) === plain(now);
}

/** Returns the action with a diff against the current file. This is a new question with a new code. */
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
