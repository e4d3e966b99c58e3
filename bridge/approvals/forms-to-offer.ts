/**
 * Lists the forms that a client can show for a session. If an action does not fit into a form, a form in URL mode links
 * to the page.
 */
import {
  approvalNeededText,
  approverText,
  choicesWithoutDecisionText,
} from '../../shared/protocol/demanded-approver.ts';
import type { Session } from '../sessions/session/session.ts';
import type { FormCandidate } from './form.ts';
import type { Form, UrlForm } from './form-field.ts';
import { MAX_INVALID_ANSWERS, type FormHistory } from './form-history.ts';
import type { PageLinks } from './page-links.ts';

export interface OfferedForm {
  ask: FormCandidate;
  params: Form | UrlForm;
}

/** A session, and what the bridge remembers about the forms that it has shown. */
export interface SessionForms {
  session: Session;
  formHistory: FormHistory;
  links: PageLinks;
}

interface OfferFormsOptions extends SessionForms {
  opensUrls: boolean;
}

/** The forms that this client can show, and the actions and questions that it cannot. */
export interface OfferedForms {
  forms: readonly OfferedForm[];
  /** The actions whose page the person has already opened. No form asks about them again until the link expires. */
  opened: readonly FormCandidate[];
  /**
   * The actions and questions that get no form, for one of these reasons. Only another person may approve the action.
   * This client can show neither the whole action nor a page. Too many answers to its forms were invalid.
   * `commandLineNotes` explains how to decide.
   */
  unoffered: readonly FormCandidate[];
}

export async function buildOfferedForms(offering: OfferFormsOptions): Promise<OfferedForms> {
  const { session, formHistory } = offering;
  const taskId = session.view?.taskId ?? '';
  const forms: OfferedForm[] = [];
  const opened: FormCandidate[] = [];
  const unoffered: FormCandidate[] = [];
  for (const ask of formHistory.offer(taskId, session.pendingInput)) {
    if (formHistory.isOpen(taskId, ask)) {
      opened.push(ask);
      continue;
    }
    if (formHistory.ignoresAnswersTo(taskId, ask)) {
      unoffered.push(ask);
      continue;
    }
    const form = await formOf(ask, offering);
    if (form === undefined) unoffered.push(ask);
    else forms.push(form);
  }
  return { forms, opened, unoffered };
}

async function formOf(
  ask: FormCandidate,
  { session, formHistory, links, opensUrls }: OfferFormsOptions,
): Promise<OfferedForm | undefined> {
  if (ask.about === 'unshown' || ask.about === 'other-approver') return undefined;
  if (ask.about !== 'page') return { ask, params: ask.form };
  if (!opensUrls) return undefined;
  const link = await links.link(session, ask);
  if (link === undefined) return undefined;
  const taskId = session.view?.taskId ?? '';
  if (link !== 'expired') return { ask, params: { mode: 'url', message: ask.message, url: link.url } };
  formHistory.recordExpiredLink(taskId, ask);
  const renewed = formHistory
    .lastOffered(taskId, session.pendingInput)
    .find(({ callId }) => callId === ask.callId);
  if (renewed?.about !== 'page' || renewed.key === ask.key) return undefined;
  const next = await links.link(session, renewed);
  if (next === undefined || next === 'expired') return undefined;
  return { ask: renewed, params: { mode: 'url', message: renewed.message, url: next.url } };
}

/** Returns a note for each action and question that gets no form. The note explains how a person can still decide. */
export function commandLineNotes(unoffered: readonly FormCandidate[]): readonly string[] {
  return unoffered.map((ask) => {
    const { callId } = ask;
    switch (ask.about) {
      case 'other-approver':
        return otherApproverNote(ask);
      case 'unshown':
        return commandLineNote('Question', ask.question, tooLongText(callId));
      case 'question':
        return commandLineNote('Question', ask.question, formsUsedUpText(callId));
      case 'asked':
        return commandLineNote('Question', ask.action, formsUsedUpText(callId));
      case 'action':
        return commandLineNote('Action', ask.action, formsUsedUpText(callId));
      case 'page':
        if (ask.action.presence === true)
          return `Action ${callId} demands the person's passkey, so no form was shown. The person approves it on the page, or denies it anywhere. \`mcp-a2a-bridge page\` prints a link to the page.`;
        return commandLineNote(
          ask.action.preview.type === 'question' ? 'Question' : 'Action',
          ask.action,
          tooLongText(callId),
        );
    }
  });
}

function otherApproverNote({
  callId,
  approver,
  action: { shown, decisions },
}: Extract<FormCandidate, { about: 'other-approver' }>): string {
  if (!decisions.includes('deny'))
    return `Action ${callId} was not shown in a form. ${approvalNeededText(approver)}. That person decides it with their own token. The person here can only ${choicesWithoutDecisionText(approver)}.`;
  return `Action ${callId} needs the approval of ${approverText(approver)}, so no form was shown. That person approves it with their own token, e.g. with \`mcp-a2a-bridge approve ${shown}\`. The person here can deny it, e.g. with \`mcp-a2a-bridge deny ${shown}\`.`;
}

function tooLongText(callId: string): string {
  return `${callId} does not fit into a form`;
}

function formsUsedUpText(callId: string): string {
  return `${callId} was asked in ${MAX_INVALID_ANSWERS} forms, and no answer counted`;
}

function commandLineNote(what: 'Action' | 'Question', { shown }: { shown: string }, why: string): string {
  const decides =
    what === 'Action'
      ? `approve it with \`mcp-a2a-bridge approve ${shown}\``
      : `answer it with \`mcp-a2a-bridge answer ${shown} <words>\``;
  return `${what} ${why}, so no form was shown. At a terminal the person reads it with \`mcp-a2a-bridge show ${shown}\` and ${decides}.`;
}
