/** Tests what the bridge shows about an action that this person may not approve. */
import { expect, test } from '@jest/globals';
import { buildFormCandidates } from '../../../../bridge/approvals/form.ts';
import { commandLineNotes } from '../../../../bridge/approvals/forms-to-offer.ts';
import { decisionCommandLines } from '../../../../bridge/approvals/ways-to-decide.ts';
import { howToDecideText, decisionElsewhereError } from '../../../../bridge/cli/terminal/how-to-decide.ts';
import { paintNothing } from '../../../../bridge/cli/terminal/paint.ts';
import { actionText } from '../../../../bridge/cli/terminal/action-text.ts';
import { pendingReport } from '../../../../bridge/mcp/reports/session-report.ts';
import { withoutShownInput } from '../../../../bridge/mcp/reports/session-result.ts';
import { approvalRequestMessage } from '../../../../bridge/approvals/webhook/chat-message.ts';
import { approvalRequestNotice } from '../../../../bridge/approvals/webhook/notice.ts';
import type { PendingAction } from '../../../../shared/protocol/tool-approval.ts';
import { NEEDS_ROLE } from '../../../support/delegator-stage.ts';
import { pendingWrite } from '../../../support/fake-agent-task.ts';
import { taskView } from '../../../support/task-view.ts';

const ABOUT = { sessionId: 's', agent: 'team', title: '' };
const SAYS = 'Needs the approval of somebody else, in group release.';
const approver = { otherThan: ['acme/ann'], groups: ['release'] };
const mayApprove = pendingWrite('call-1', { approver });
const mayNot: PendingAction = { ...mayApprove, decisions: ['deny'] };
const asked = (action: PendingAction) =>
  buildFormCandidates({ pending: [action], question: null }, () => undefined);

test('R121 no form asks for it, and a note says who must approve', () => {
  const forms = asked(mayNot);
  expect(forms).toMatchObject([{ about: 'other-approver', approver }]);
  expect(commandLineNotes(forms)).toEqual([
    expect.stringContaining('needs the approval of somebody else, in group release'),
  ]);
  expect(asked(mayApprove)).toMatchObject([{ about: 'action' }]);
});

test('R121 a tool result offers only the denial, and says who must approve', () => {
  const { decisions, why } = withoutShownInput(pendingReport(mayNot));
  expect(decisions).toEqual(['deny']);
  expect(why).toContain(SAYS);
  expect(withoutShownInput(pendingReport(mayApprove))).not.toHaveProperty('why');
});

const lacksRole: PendingAction = {
  ...mayApprove,
  approver: { role: { needed: 'approve', held: ['delegate'], tenant: 'acme' } },
  decisions: [],
};
const asksQuestion: PendingAction = {
  ...lacksRole,
  reason: 'question',
  preview: { type: 'question', text: 'Which?' },
};

test.each([lacksRole, asksQuestion])('R122 without the role, no form asks for it', (action) => {
  const forms = asked(action);
  expect(forms).toMatchObject([{ about: 'other-approver' }]);
  const [note = ''] = commandLineNotes(forms);
  expect(note).toContain(NEEDS_ROLE);
  expect(note).not.toMatch(/mcp-a2a-bridge (approve|deny|answer)/);
});

test.each([lacksRole, asksQuestion])('R122 without the role, a tool result offers no decision', (action) => {
  const { decisions, why } = withoutShownInput(pendingReport(action));
  expect(decisions).toEqual([]);
  expect(why).toContain(NEEDS_ROLE);
  expect(why).toContain('Nothing can be decided here.');
  expect(decisionCommandLines({ pending: [pendingReport(action)], question: null }, 'bridge')).toEqual([]);
});

test.each([lacksRole, asksQuestion])('R122 without the role, a terminal names no command', (action) => {
  expect(actionText(action, { paint: paintNothing, width: undefined })).toContain(`\n${NEEDS_ROLE}\n`);
  expect(howToDecideText(action)).toBe('You can only wait, or cancel the task.');
  for (const word of ['approve', 'deny', 'edit', 'answer'] as const)
    expect(decisionElsewhereError(action, word)).toMatchObject({ reason: 'OTHER_APPROVER_REQUIRED' });
});

test('R122 without a role that cancels tasks, nothing offers to cancel', () => {
  const role = { needed: 'approve', held: ['read'], tenant: 'acme' };
  const action = { ...lacksRole, approver: { role } };
  expect(howToDecideText(action)).toBe('You can only wait.');
  const [note = ''] = commandLineNotes(asked(action));
  expect(note).toContain('The person here can only wait.');
  expect(howToDecideText({ ...action, approver: { role: { ...role, held: ['read', 'operate'] } } })).toBe(
    'You can only wait, or cancel the task.',
  );
});

test('R122 without the role, a chat message does not say that it waits for the reader', () => {
  expect(approvalRequestMessage(ABOUT, taskView({ pending: [lacksRole] }), undefined).title).toBe(
    'An agent waits for the decision of somebody else',
  );
  expect(approvalRequestMessage(ABOUT, taskView({ pending: [mayApprove, lacksRole] }), undefined).title).toBe(
    'An agent waits for your decision',
  );
});

test('R121 a terminal shows it, and escapes the group of another agent', () => {
  expect(actionText(mayNot, { paint: paintNothing, width: undefined })).toContain(`\n${SAYS}\n`);
  expect(actionText(mayApprove, { paint: paintNothing, width: undefined })).not.toContain('Needs');
  const hostile = { ...mayNot, approver: { groups: ['a\u001B[2Jb\nc'] } };
  expect(actionText(hostile, { paint: paintNothing, width: undefined })).not.toContain('\u001B');
  expect(actionText(hostile, { paint: paintNothing, width: undefined })).toContain('in group a');
});

test('R121 a post says who must approve: as a field for a program, and in words for a chat', () => {
  const view = taskView({ pending: [mayNot] });
  expect(approvalRequestNotice(ABOUT, view, 0).data).toMatchObject({
    pending: [{ approver, decisions: ['deny'] }],
  });
  expect(approvalRequestMessage(ABOUT, view, undefined).lines).toContainEqual(
    expect.stringMatching(/^Needs the approval of somebody else, in group release: write-file: /),
  );
});
