/**
 * Shows one action with the buttons that decide it. If the server asks again about the same call, the person's reason,
 * edit or answer stays, and belongs to the new question.
 */
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Decision, PendingAction } from '../../../../shared/client/index.ts';
import { TaskDraftsContext } from './drafts-context.ts';
import { ActionView } from './action-view.tsx';
import { DecisionButtons } from './decision-buttons.tsx';
import { EditAction } from './edit-action.tsx';
import { QuestionForm } from './question-form.tsx';
import { useActionSeen } from './use-action-seen.ts';

interface PendingActionProps {
  action: PendingAction;
  /** Why the server refused the last decision on this action. */
  problem?: string | undefined;
  /** Resolves to true if the server accepted the decision. */
  onDecide: (decision: Decision) => Promise<boolean>;
  /** Called with true after the action has been on the screen, and with false while the person edits it. */
  onRead?: (read: boolean) => void;
}

export function PendingActionView({ action, problem, onDecide, onRead }: PendingActionProps) {
  const { preview, decisions, shown } = action;
  // The `shown` code of the question whose decision the page has sent.
  const [sent, setSent] = useState<string>();
  // True if the person has written something since `problem` appeared.
  const [writesAgain, setWritesAgain] = useState(false);
  useEffect(() => setWritesAgain(false), [problem]);
  const { edits } = useContext(TaskDraftsContext);
  const [wantsEdit, setWantsEdit] = useState(edits.has(action.callId));
  const { head, foot, seen } = useActionSeen(shown);
  const headId = useId();
  // The same code as `sent`, but set at once, because a second click may arrive before the page disables the buttons.
  const sending = useRef<string>();
  const send = async (decision: Decision): Promise<void> => {
    if (sending.current === shown) return;
    sending.current = shown;
    setSent(shown);
    if (await onDecide(decision)) return;
    if (sending.current === shown) sending.current = undefined;
    setSent((before) => (before === shown ? undefined : before));
  };
  const decide = (decision: Decision): void => void send(decision);
  const disabled = sent === shown;
  const stopEdit = (): void => {
    edits.delete(action.callId);
    setWantsEdit(false);
  };
  const editing = wantsEdit && decisions.includes('edit');
  const read = seen && !editing;
  useEffect(() => onRead?.(read), [read, shown]);
  return (
    <ActionView action={action} waits seen={seen} head={head} headId={headId}>
      <div
        ref={foot}
        onInput={({ target }) => isTextField(target) && setWritesAgain(true)}
        onChange={() => setWritesAgain(true)}
      >
        {preview.type === 'question' && decisions.includes('answer') ? (
          <QuestionForm action={action} question={preview} disabled={disabled} onDecide={decide} />
        ) : editing ? (
          <EditAction action={action} disabled={disabled} onDecide={decide} onBack={stopEdit} />
        ) : (
          <DecisionButtons
            action={action}
            disabled={disabled}
            describedBy={headId}
            onDecide={decide}
            onEdit={() => setWantsEdit(true)}
          />
        )}
        {disabled && (
          <p class="quiet slow" role="status">
            Sending …
          </p>
        )}
        {problem !== undefined && !writesAgain && <Problem text={problem} />}
      </div>
    </ActionView>
  );
}

/** Shows a problem below the buttons. Scrolls to it, because the buttons may be at the end of the window. */
function Problem({ text }: { text: string }) {
  const line = useRef<HTMLParagraphElement>(null);
  useEffect(() => line.current?.scrollIntoView({ block: 'nearest' }), [text]);
  return (
    <p class="problem" role="alert" ref={line}>
      {text}
    </p>
  );
}

/**
 * False for a choice, e.g. a check box. The browser sends `input` and then `change`, and only `change` stores a choice.
 * A render between the two events would undo the choice.
 */
function isTextField(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.matches('textarea, input:not([type="checkbox"], [type="radio"])')
  );
}
