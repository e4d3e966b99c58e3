/** What waits for a person, in words: for clients that know nothing of the approval extension, and for logs of those that do. */
import { questionText } from '../../shared/protocol/question-text.ts';
import type { PendingAction, Preview } from '../../shared/protocol/tool-approval.ts';

/** Longer previews are cut in the text; the data part of the extension has them whole. */
const PREVIEW_LIMIT = 8_000;

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
  return `${pending.length} actions wait for a decision.\n\n${actions.join('\n\n')}\n\nDecide each by its call id (${pending
    .map(({ callId }) => callId)
    .join(', ')}), with a decisions part of the tool-approval extension.`;
}

function howToAnswer({ preview }: PendingAction): string {
  if (preview.type !== 'question') return 'Answer with exactly "approve" or "deny".';
  if (preview.schema !== undefined) return 'Answer with a JSON object that has these fields.';
  if (preview.choices === undefined) return 'The next message is the answer.';
  const other = preview.freeText ? ', or with words of your own' : '';
  return preview.multiple
    ? `Answer with the choices you take, with commas between them${other}.`
    : `Answer with exactly one of the choices${other}.`;
}

function described({ title, tool, callId, reason, rule, preview, expiresAt }: PendingAction): string {
  const until = expiresAt === null ? '' : ` It waits until ${expiresAt}.`;
  if (preview.type === 'question')
    return `The agent asks something (${tool}, call ${callId}).${until}\n\n${cut(shown(preview))}`;
  return `The agent wants to run ${tool}: ${title} (call ${callId}).${BECAUSE[reason]}${rule === undefined ? '' : ` It is asked for by ${rule}.`}${until}\n\n${cut(shown(preview))}`;
}

function shown(preview: Preview): string {
  switch (preview.type) {
    case 'diff':
      return preview.diff;
    case 'command':
      return `$ ${preview.command}\n(in ${preview.cwd})`;
    case 'url':
      return preview.url;
    case 'json':
      return JSON.stringify(preview.value, null, 2) ?? '';
    case 'question':
      return questionText(preview);
  }
}

function cut(text: string): string {
  return text.length <= PREVIEW_LIMIT
    ? text
    : `${text.slice(0, PREVIEW_LIMIT)}\n… (${text.length - PREVIEW_LIMIT} more characters)`;
}
