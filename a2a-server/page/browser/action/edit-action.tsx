/** Edits an action in place, and shows the effect of the edit before the person sends it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Decision, PendingAction } from '../../../../shared/client/index.ts';
import { messageOf } from '../../../../shared/runtime/errors.ts';
import { DiffView } from '../diff/diff-view.tsx';
import { editableOf } from './editable.ts';
import { editedDiff } from '../diff/edited-diff.ts';
import { proposedFileOf } from '../diff/proposed-file.ts';

/** A diff of a long text takes up to 0.1 s. The page waits for a pause in typing. */
const PAUSE_MS = 150;

interface EditActionProps {
  action: PendingAction;
  disabled: boolean;
  onDecide: (decision: Decision) => void;
  onBack: () => void;
}

export function EditAction({ action, disabled, onDecide, onBack }: EditActionProps) {
  const editable = editableOf(action);
  const [edited, setEdited] = useState(editable.text);
  const [compared, setCompared] = useState(editable.text);
  const [problem, setProblem] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // The person reads the text from its start.
    field.current?.setSelectionRange(0, 0);
    field.current?.focus();
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => setCompared(edited), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [edited]);
  const file = useMemo(() => proposedFileOf(action), [action]);
  const effect = useMemo(() => editedDiff(file, editable.text, compared), [file, compared]);
  const send = (): void => {
    try {
      onDecide(editable.decision(edited));
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <>
      <div class="edit">
        <textarea
          ref={field}
          aria-label="The edited input"
          spellcheck={false}
          value={edited}
          onInput={(event) => {
            setEdited(event.currentTarget.value);
            setProblem(undefined);
          }}
        />
        {/* The box has a fixed height, so a new diff moves no button. */}
        <div class="effect" data-live>
          {effect.type === 'same' ? (
            <p class="quiet">{effect.text}</p>
          ) : (
            <DiffView path={effect.path} diff={effect.diff} after={effect.after} label="Effect of the edit" />
          )}
        </div>
      </div>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="row">
        <button class="main" disabled={disabled} onClick={send}>
          {action.presence ? 'Approve as edited, with passkey' : 'Approve as edited'}
        </button>
        <button disabled={disabled} onClick={onBack}>
          Back
        </button>
      </div>
    </>
  );
}
