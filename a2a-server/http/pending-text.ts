/** What waits for a person, in words: for clients that know nothing of the approval extension, and for logs of those that do. */
import { quotedPreview, TEXT_PART_ROOM } from '../../shared/protocol/preview-text.ts';
import { visibleLine } from '../../shared/visible-text.ts';
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';

const BECAUSE: Readonly<Record<PendingAction['reason'], string>> = {
  approval: '',
  'outcome-unknown':
    ' It was running when the server stopped, and nobody knows how far it came: approve runs it again, deny skips it.',
  'content-changed': ' What was shown before has changed in the meantime; this is how it stands now.',
  question: '',
};

export function pendingText(pending: readonly PendingAction[]): string {
  const [first, second] = pending;
  if (first === undefined) return 'The task waits for input.';
  if (second === undefined) return `${described(first)}\n\n${howToAnswer(first)}`;
  const actions = pending.map((action, index) => `${index + 1}. ${described(action)}`);
  return `${pending.length} actions wait for a decision.\n\n${actions.join('\n\n')}\n\nDecide each by its call id and its code (${pending
    .map(({ callId, shown }) => `${callId} ${shown}`)
    .join(', ')}), with a decisions part of the tool-approval extension.`;
}

function howToAnswer({ preview, reason, shown }: PendingAction): string {
  // D2: a bare word may be meant for the question before this one.
  const code = reason === 'outcome-unknown' || reason === 'content-changed' ? ` ${shown}` : '';
  // D5: what was not shown whole is not approved with a word.
  if (preview.type !== 'question' && quotedPreview(preview, TEXT_PART_ROOM).extent === 'cut')
    return `It is too long to be shown here, so it cannot be approved here: a client with the tool-approval extension shows all of it. Answer with exactly "deny${code}", or decide it there.`;
  if (preview.type !== 'question') return `Answer with exactly "approve${code}" or "deny${code}".`;
  if (preview.schema !== undefined) return 'Answer with a JSON object that has these fields.';
  if (preview.choices === undefined) return 'The next message is the answer.';
  const other = preview.freeText ? ', or with words of your own' : '';
  return preview.multiple
    ? `Answer with the choices you take, with commas between them${other}.`
    : `Answer with exactly one of the choices${other}.`;
}

function described({ title, tool, callId, reason, rule, preview, expiresAt }: PendingAction): string {
  const until = expiresAt === null ? '' : ` It waits until ${expiresAt}.`;
  const { text } = quotedPreview(preview, TEXT_PART_ROOM);
  const call = `call ${visibleLine(callId)}`;
  if (preview.type === 'question')
    return `The agent asks something (${visibleLine(tool)}, ${call}).${until}\n\n${text}`;
  return `The agent wants to run ${visibleLine(tool)}: ${visibleLine(title)} (${call}).${BECAUSE[reason]}${rule === undefined ? '' : ` It is asked for by ${visibleLine(rule)}.`}${until}\n\n${text}`;
}
