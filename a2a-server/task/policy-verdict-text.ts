import { inGroupsText } from '../../shared/protocol/demanded-approver.ts';
import type { ApproverDemand } from './approver.ts';
import type { PolicyVerdict } from './events.ts';

/** Returns the policy's verdict on a tool call for a person, e.g. `allowed by rule 1 (allow: tool read-file)`. */
export function policyVerdictText(verdict: PolicyVerdict): string {
  switch (verdict.type) {
    case 'ask':
      return [
        `a person decides${verdict.presence === true ? ' with a passkey' : ''}`,
        ...(verdict.approver === undefined ? [] : [approverText(verdict.approver)]),
        ...(verdict.rule === undefined ? [] : [`by ${verdict.rule}`]),
      ].join(', ');
    case 'question':
      return 'question to a person';
    case 'refuse':
      return `refused: ${verdict.message}`;
    case 'allow': {
      const { because } = verdict;
      if (because.type === 'rule') return `allowed by ${because.rule}`;
      return because.type === 'grant'
        ? `allowed by the decision on call ${because.callId}`
        : `allowed: ${because.type}`;
    }
  }
}

function approverText({ fourEyes, groups }: ApproverDemand): string {
  const demands = [
    ...(fourEyes === true ? ['did not send the task a message'] : []),
    ...(groups ? [`is ${inGroupsText(groups)}`] : []),
  ];
  return `the approver ${demands.join(' and ')}`;
}
