/** Shows one action with the buttons that decide it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Decision, PendingAction } from '../../../../shared/client/index.ts';
import { ActionView } from './action-view.tsx';
import { DecisionButtons } from './decision-buttons.tsx';
import { EditAction } from './edit-action.tsx';
import { QuestionForm } from './question-form.tsx';
import { useActionSeen } from './use-action-seen.ts';

interface PendingActionProps {
  action: PendingAction;
  /** Resolves to true if the server accepted the decision. */
  onDecide: (decision: Decision) => Promise<boolean>;
  /** Called with true after the action has been on the screen, and with false while the person edits it. */
  onRead?: (read: boolean) => void;
}

export function PendingActionView({ action, onDecide, onRead }: PendingActionProps) {
  const [sent, setSent] = useState(false);
  const [editing, setEditing] = useState(false);
  const { head, foot, seen } = useActionSeen();
  // True while a decision is being sent. A second click may arrive before the page removes the buttons.
  const sending = useRef(false);
  const { preview, decisions } = action;
  const send = async (decision: Decision): Promise<void> => {
    if (sending.current) return;
    sending.current = true;
    setSent(true);
    const taken = await onDecide(decision);
    sending.current = taken;
    setSent(taken);
  };
  const decide = (decision: Decision): void => void send(decision);
  const read = seen && !editing;
  useEffect(() => onRead?.(read), [read]);
  return (
    <ActionView action={action} seen={seen} head={head}>
      <div ref={foot}>
        {preview.type === 'question' && decisions.includes('answer') ? (
          <QuestionForm action={action} question={preview} disabled={sent} onDecide={decide} />
        ) : editing ? (
          <EditAction action={action} disabled={sent} onDecide={decide} onBack={() => setEditing(false)} />
        ) : (
          <DecisionButtons
            action={action}
            disabled={sent}
            onDecide={decide}
            onEdit={() => setEditing(true)}
          />
        )}
      </div>
    </ActionView>
  );
}
