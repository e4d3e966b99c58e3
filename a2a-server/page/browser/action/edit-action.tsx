/** Edits an action in place, and shows the effect of the edit before the person sends it. */
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Decision, PendingAction } from '../../../../shared/client/index.ts';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { DiffView } from '../diff/diff-view.tsx';
import { ProblemLine } from '../problem-line.tsx';
import { TaskDraftsContext } from './drafts-context.ts';
import {
  draftText,
  initialEditDraft,
  createFormDraft,
  shownFieldProblems,
  type EditDraft,
} from './edit-draft.ts';
import { editableOf, withLineBreaksOf } from './editable.ts';
import { editedDiff, proposedFileOf } from '../diff/proposed-file.ts';
import { EditedInputForm } from './edited-input-form.tsx';
import { useInputSchema } from './input-schema.ts';

/**
 * The pause in typing after which the page computes the diff, in milliseconds. A diff of a long text takes up to 0.1 s.
 */
const PAUSE_MS = 150;

interface EditActionProps {
  action: PendingAction;
  disabled: boolean;
  onDecide: (decision: Decision) => void;
  onBack: () => void;
}

export function EditAction(props: EditActionProps) {
  const { action } = props;
  const known = useInputSchema(editableOf(action).type === 'input' ? action.callId : null);
  if (known === undefined) return <p class="quiet">Loading …</p>;
  return <Editor {...props} schema={known.schema} />;
}

function Editor({ action, disabled, onDecide, onBack, schema }: EditActionProps & { schema: unknown }) {
  const editable = editableOf(action);
  const { edits } = useContext(TaskDraftsContext);
  const [draft, setDraft] = useState<EditDraft>(
    () => edits.get(action.callId) ?? initialEditDraft(editable, schema),
  );
  const [compared, setCompared] = useState(editable.text);
  const [problem, setProblem] = useState<string>();
  const box = useRef<HTMLDivElement>(null);
  // True if the person began this edit in an earlier view of the action, e.g. before a look at another task. Then this
  // view does not move the focus.
  const restored = useRef(edits.has(action.callId));
  const { view } = draft;
  const hasForm = useMemo(() => initialEditDraft(editable, schema).view === 'form', [action, schema]);
  useEffect(() => {
    if (restored.current) {
      restored.current = false;
      return;
    }
    // The person may have focused an element outside of this action before the schema arrived. Then the focus stays
    // there.
    const { activeElement } = document;
    const section = box.current?.closest('section');
    if (activeElement !== document.body && section?.contains(activeElement) !== true) return;
    const [field] = box.current?.querySelectorAll<HTMLElement>('input, select, textarea') ?? [];
    // The cursor is at the start of the text, because the person reads the text from there.
    if (field instanceof HTMLTextAreaElement) field.setSelectionRange(0, 0);
    field?.focus();
  }, [view]);
  const written = draftText(draft);
  const text = written === undefined ? undefined : withLineBreaksOf(editable.text, written);
  useEffect(() => {
    if (text === undefined) return undefined;
    const timer = setTimeout(() => setCompared(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const file = useMemo(() => proposedFileOf(action), [action]);
  const effect = useMemo(() => editedDiff(file, editable.text, compared), [file, compared]);
  const change = (next: EditDraft): void => {
    edits.set(action.callId, next);
    setDraft(next);
    setProblem(undefined);
  };
  /** Calls `act` with the valid text. Otherwise shows the problems. */
  const withText = (act: (valid: string) => void): void => {
    if (text === undefined) {
      if (draft.view === 'form') setDraft({ ...draft, checked: true });
      return;
    }
    try {
      act(text);
    } catch (error) {
      setProblem(errorMessageOf(error));
    }
  };
  const otherView = (): void =>
    withText((valid) =>
      change((view === 'text' ? createFormDraft(valid, schema) : undefined) ?? { view: 'text', text: valid }),
    );
  return (
    <>
      <div class="edit">
        <div class="editor" ref={box}>
          {draft.view === 'form' ? (
            <EditedInputForm
              fields={draft.fields}
              texts={draft.texts}
              problems={shownFieldProblems(draft)}
              onChange={(texts) => change({ ...draft, texts })}
            />
          ) : (
            <textarea
              aria-label="The edited input"
              spellcheck={false}
              value={draft.text}
              onInput={(event) => change({ view: 'text', text: event.currentTarget.value })}
            />
          )}
        </div>
        {/* The box has a fixed height, so a new diff moves no button. */}
        <div class="effect" data-live>
          {effect.type === 'same' ? (
            <p class="quiet">{effect.text}</p>
          ) : (
            <DiffView path={effect.path} diff={effect.diff} after={effect.after} label="Effect of the edit" />
          )}
        </div>
      </div>
      <ProblemLine text={problem} />
      <div class="row">
        <button
          class="main"
          disabled={disabled}
          onClick={() => withText((valid) => onDecide(editable.decision(valid)))}
        >
          {action.presence ? 'Approve as edited, with passkey' : 'Approve as edited'}
        </button>
        {hasForm && (
          <button disabled={disabled} onClick={otherView}>
            {view === 'form' ? 'As JSON' : 'As a form'}
          </button>
        )}
        <button disabled={disabled} onClick={onBack}>
          Back
        </button>
      </div>
    </>
  );
}
