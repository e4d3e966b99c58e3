/** Shows one pending action and its decision buttons. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Decision, PendingAction } from '../../../shared/client/index.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { editableOf } from './editable.ts';
import { PreviewView } from './preview.tsx';
import { QuestionForm } from './question-form.tsx';
import { TrustLimitFields } from './trust-limit-fields.tsx';
import { grantFromForm, NO_LIMITS } from './trust-limits.ts';

interface PendingActionProps {
  action: PendingAction;
  /** Resolves to true if the server accepted the decision. */
  onDecide: (decision: Decision) => Promise<boolean>;
}

const SCOPES = [
  ['once', 'this time'],
  ['tool', 'for this tool from now on'],
  ['server', 'for this source of tools from now on'],
  ['always', 'for everything from now on'],
] as const;

const REASONS: Readonly<Record<PendingAction['reason'], string>> = {
  approval: '',
  question: '',
  'outcome-unknown':
    'It was running when the server stopped, and may have had its effect. Approve runs it again, deny skips it.',
  'content-changed': 'The file has changed since you last saw this. This is the current change.',
};

export function PendingActionView({ action, onDecide }: PendingActionProps) {
  const [sent, setSent] = useState(false);
  // A second click may arrive before the page removes the buttons.
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
  return (
    <ActionView action={action}>
      {preview.type === 'question' && decisions.includes('answer') ? (
        <QuestionForm action={action} question={preview} disabled={sent} onDecide={decide} />
      ) : (
        <Choice action={action} disabled={sent} onDecide={decide} />
      )}
    </ActionView>
  );
}

/** Shows the complete action, with its controls below. */
export function ActionView({ action, children }: { action: PendingAction; children: ComponentChildren }) {
  const { title, tool, preview, reason, expiresAt } = action;
  return (
    <section class="action" aria-label={visibleLine(title)}>
      <h3>{visibleLine(title)}</h3>
      <small class="quiet">
        {visibleLine(tool)}
        {expiresAt === null ? '' : `, until ${new Date(expiresAt).toLocaleString()}`}
      </small>
      {REASONS[reason] !== '' && <p class="warning">{REASONS[reason]}</p>}
      <PreviewView preview={preview} />
      {children}
    </section>
  );
}

interface ChoiceProps {
  action: PendingAction;
  disabled: boolean;
  onDecide: (decision: Decision) => void;
}

function Choice({ action, disabled, onDecide }: ChoiceProps) {
  const { callId, shown, decisions } = action;
  const [scope, setScope] = useState<(typeof SCOPES)[number][0]>('once');
  const [limits, setLimits] = useState(NO_LIMITS);
  const [reason, setReason] = useState('');
  const [edited, setEdited] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const editable = editableOf(action);
  const send = (decision: () => Decision): void => {
    try {
      onDecide(decision());
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const approval = (): Decision => {
    const grant = scope === 'once' ? undefined : grantFromForm(limits);
    return { callId, shown, decision: 'approve', scope, ...(grant && { grant }) };
  };
  const problemText = problem !== undefined && (
    <p class="problem" role="alert">
      {problem}
    </p>
  );
  if (edited !== undefined)
    return (
      <>
        <textarea
          aria-label="The edited input"
          value={edited}
          onInput={(event) => setEdited(event.currentTarget.value)}
        />
        {problemText}
        <div class="row">
          <button class="main" disabled={disabled} onClick={() => send(() => editable.decision(edited))}>
            Approve as edited
          </button>
          <button disabled={disabled} onClick={() => setEdited(undefined)}>
            Back
          </button>
        </div>
      </>
    );
  return (
    <>
      <div class="row">
        {decisions.includes('approve') && (
          <>
            <button class="main" disabled={disabled} onClick={() => send(approval)}>
              Approve
            </button>
            <select
              aria-label="Scope of the approval"
              value={scope}
              onChange={(event) => {
                const { value } = event.currentTarget;
                setScope(SCOPES.find(([word]) => word === value)?.[0] ?? 'once');
              }}
            >
              {SCOPES.map(([word, words]) => (
                <option key={word} value={word}>
                  {words}
                </option>
              ))}
            </select>
          </>
        )}
        {decisions.includes('edit') && (
          <button disabled={disabled} onClick={() => setEdited(editable.text)}>
            Edit
          </button>
        )}
      </div>
      {scope !== 'once' && <TrustLimitFields limits={limits} disabled={disabled} onChange={setLimits} />}
      {problemText}
      <div class="row">
        <button
          disabled={disabled}
          onClick={() =>
            onDecide({
              callId,
              shown,
              decision: 'deny',
              ...(reason.trim() !== '' && { reason: reason.trim() }),
            })
          }
        >
          Deny
        </button>
        <input
          aria-label="Reason for the denial"
          placeholder="reason, for the agent"
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </div>
    </>
  );
}
