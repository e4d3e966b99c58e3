/**
 * Asking the person from within a tool call, in a client that shows forms. What is no answer ends the asking and decides
 * nothing: the call then returns what is pending, and every other way to decide is as open as before.
 */
import type { Session } from '../sessions/session.ts';
import type { WaitEnd } from '../sessions/wait.ts';
import type { Client } from './client.ts';
import type { ApprovalRules } from './ladder.ts';
import type { Offers } from './offers.ts';
import type { SessionRound } from './request-state.ts';
import { settleForms, type SettledForms } from './settle-forms.ts';
import { showForm } from './withdrawable-form.ts';

export interface Asking {
  session: Session;
  client: Client;
  offers: Offers;
  rules: ApprovalRules;
  signal: AbortSignal;
  /** Waits, within the call's bound, for what the decisions lead to. */
  wait: () => Promise<WaitEnd>;
}

/** Where the asking has come to, and what is to be said of it. */
export interface Asked {
  end: WaitEnd;
  notes: readonly string[];
}

/** By requests of its own, one form after the other, while the call is held (`push`). @param end where the call stands */
export async function askInCall(asking: Asking, end: WaitEnd): Promise<Asked> {
  const { session, offers, rules, wait } = asking;
  const asked = new Set<string>();
  let stands = end;
  while (stands === 'settled') {
    const ask = offers.asks(session.view?.taskId ?? '', session.asked).find(({ key }) => !asked.has(key));
    if (ask === undefined) break;
    asked.add(ask.key);
    const shown = await showForm({ ...asking, ask });
    if (shown.type === 'gone') return { end: 'gone', notes: [] };
    if (shown.type === 'failed')
      return { end: stands, notes: [`The form for the person could not be shown: ${shown.message}`] };
    if (shown.type === 'answered') {
      const responses = { [ask.key]: shown.response };
      const settled = await settleForms({ session, responses, channel: 'elicitation', offers, rules });
      if (settled.decided === 0) return { end: stands, notes: notesOf(settled) };
    }
    stands = await wait();
  }
  return { end: stands, notes: [] };
}

/** The answers that came with the call's next request (`rounds`). */
export async function takeRound(
  asking: Asking,
  { responses }: SessionRound,
): Promise<Asked & { goesOn: boolean }> {
  const { session, offers, rules, wait } = asking;
  const settled = await settleForms({ session, responses, channel: 'elicitation', offers, rules });
  const end = await wait();
  // Whoever has left a form unanswered is not asked again by the same call.
  return {
    end,
    notes: notesOf(settled),
    goesOn: settled.unanswered.length === 0 && settled.refused === undefined,
  };
}

function notesOf({ unanswered, refused }: SettledForms): readonly string[] {
  const notes = [...new Set(unanswered)].map((why) => `The person was asked in a form: ${WORDS[why]}`);
  return refused === undefined
    ? notes
    : [...notes, `What was answered in the form did not count: ${refused}`];
}

const WORDS: Readonly<Record<SettledForms['unanswered'][number], string>> = {
  cancelled: 'it was closed without an answer, and nothing was decided by it.',
  'too fast': 'the answer came faster than anybody reads, and does not count. Nothing was decided by it.',
  'not understood': 'the answer was no clear decision, and does not count. Nothing was decided by it.',
};
