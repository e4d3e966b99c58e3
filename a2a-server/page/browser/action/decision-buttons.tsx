/**
 * Shows the buttons that approve, deny or edit an action. `data-key` names the key that clicks or focuses an element
 * (page-keyboard.tsx).
 */
import { useContext, useState } from 'preact/hooks';
import type { Decision, PendingAction } from '../../../../shared/client/index.ts';
import {
  approvalNeededText,
  approverInsteadOfReader,
} from '../../../../shared/protocol/demanded-approver.ts';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { clickOnEnter } from '../click-on-enter.ts';
import { type ApprovalScope, approvalScopesOf } from './approval-scopes.ts';
import { ProblemLine } from '../problem-line.tsx';
import { TaskDraftsContext } from './drafts-context.ts';
import { grantFromForm, NO_TRUST_LIMITS, type TrustLimitTexts } from './trust-limits.ts';

interface DecisionButtonsProps {
  action: PendingAction;
  disabled: boolean;
  /**
   * The id of the action's heading. A screen reader reads the heading with each button, because several actions have
   * the same buttons.
   */
  describedBy: string;
  onDecide: (decision: Decision) => void;
  onEdit: () => void;
}

export function DecisionButtons({ action, disabled, describedBy, onDecide, onEdit }: DecisionButtonsProps) {
  const { callId, shown, decisions, presence = false } = action;
  const approver = approverInsteadOfReader(action);
  const [scope, setScope] = useState<ApprovalScope>('once');
  const scopes = approvalScopesOf(action);
  const [limits, setLimits] = useState(NO_TRUST_LIMITS);
  const { reasons } = useContext(TaskDraftsContext);
  const [reason, setReason] = useState(reasons.get(callId) ?? '');
  const [problem, setProblem] = useState<string>();
  const approve = (): void => {
    setProblem(undefined);
    try {
      const grant = scope === 'once' ? undefined : grantFromForm(limits);
      onDecide({ callId, shown, decision: 'approve', scope, ...(grant && { grant }) });
    } catch (error) {
      setProblem(errorMessageOf(error));
    }
  };
  const deny = (): void => {
    const given = reason.trim();
    onDecide({ callId, shown, decision: 'deny', ...(given !== '' && { reason: given }) });
  };
  return (
    <>
      {approver !== undefined ? (
        <p class="warning">{approvalNeededText(approver)}.</p>
      ) : (
        <div class="row">
          {decisions.includes('approve') && (
            <>
              <button
                class="main"
                data-key="a"
                aria-describedby={describedBy}
                disabled={disabled}
                onClick={approve}
              >
                {presence ? 'Approve with passkey' : 'Approve'}
              </button>
              {!presence && (
                <select
                  aria-label="Scope of the approval"
                  value={scope}
                  onChange={(event) => {
                    const { value } = event.currentTarget;
                    setScope(scopes.find(([word]) => word === value)?.[0] ?? 'once');
                  }}
                >
                  {scopes.map(([word, words]) => (
                    <option key={word} value={word}>
                      {words}
                    </option>
                  ))}
                </select>
              )}
            </>
          )}
          {decisions.includes('edit') && (
            <button data-key="e" aria-describedby={describedBy} disabled={disabled} onClick={onEdit}>
              Edit
            </button>
          )}
        </div>
      )}
      {scope !== 'once' && <TrustLimitFields limits={limits} disabled={disabled} onChange={setLimits} />}
      <ProblemLine text={problem} />
      {decisions.includes('deny') && (
        <div class="row" onKeyDown={clickOnEnter}>
          <button data-enter aria-describedby={describedBy} disabled={disabled} onClick={deny}>
            Deny
          </button>
          <input
            aria-label="Reason for the denial"
            data-key="d"
            placeholder="reason, for the agent"
            value={reason}
            onInput={({ currentTarget: { value } }) => {
              reasons.set(callId, value);
              setReason(value);
            }}
          />
        </div>
      )}
    </>
  );
}

interface TrustLimitsProps {
  limits: TrustLimitTexts;
  disabled: boolean;
  onChange: (limits: TrustLimitTexts) => void;
}

function TrustLimitFields({ limits, disabled, onChange }: TrustLimitsProps) {
  return (
    <div class="row">
      <input
        type="number"
        min="1"
        aria-label="Trust for this many minutes (empty: until the task ends)"
        placeholder="minutes (no limit)"
        disabled={disabled}
        value={limits.minutes}
        onInput={(event) => onChange({ ...limits, minutes: event.currentTarget.value })}
      />
      <input
        type="number"
        min="1"
        step="1"
        aria-label="Trust for this many later calls (empty: no limit)"
        placeholder="later calls (no limit)"
        disabled={disabled}
        value={limits.uses}
        onInput={(event) => onChange({ ...limits, uses: event.currentTarget.value })}
      />
    </div>
  );
}
