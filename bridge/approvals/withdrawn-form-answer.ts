/**
 * Explains why an answer to a withdrawn form has no effect. The bridge withdraws a form if a decision is made
 * elsewhere, or if the agent asks again. Pure.
 */
import { z } from 'zod';
import { decidedByText } from '../../shared/text/decided-by-text.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import type { CallView, TaskView } from '../sessions/session/observed-task.ts';
import type { FormCandidate } from './form.ts';
import type { DecisionChannel } from '../settings/approval-mode.ts';

export interface LateAnswerContext {
  asks: readonly FormCandidate[];
  view: TaskView | undefined;
  channel: DecisionChannel;
  formHistory: { subjectOfForm(taskId: string, key: string): FormCandidate['about'] | undefined };
}

const answer = z.looseObject({ action: z.enum(['accept', 'decline']) });

/**
 * Returns a note for each answer to a withdrawn form. The note says who has decided. An answer that only repeats the
 * valid decision gets no note.
 */
export function lateAnswerNotes(
  responses: Readonly<Record<string, unknown>>,
  { asks, view, channel, formHistory }: LateAnswerContext,
): readonly string[] {
  const open = new Set(asks.map(({ key }) => key));
  return Object.entries(responses).flatMap(([key, response]) => {
    const action = answer.safeParse(response).data?.action;
    if (action === undefined || open.has(key) || view === undefined) return [];
    // If the form only opened a page, the person has not answered anything. So there is no note.
    if (action === 'accept' && formHistory.subjectOfForm(view.taskId, key) === 'page') return [];
    const callId = callIn(key);
    const call = view.calls.find((each) => each.callId === callId);
    // Some agents do not report decided calls, so the call may be unknown. An answer with a key that no form had is
    // ignored.
    if (call === undefined)
      return formHistory.subjectOfForm(view.taskId, key) === undefined ? [] : [NOT_WAITING];
    if (isSame(call, action, channel)) return [];
    return [
      lateNote(
        call,
        asks.some((ask) => ask.callId === callId),
      ),
    ];
  });
}

/** Returns the call id at the start of a form key (see `form.ts`). */
function callIn(key: string): string {
  return key.replace(/\.[0-9a-f]{16}$/, '');
}

function isSame({ decided }: CallView, action: 'accept' | 'decline', channel: DecisionChannel): boolean {
  return decided?.channel === channel && (decided.decision === 'deny') === (action === 'decline');
}

const NOT_WAITING = 'An answer in a form did not count: its action did not wait any more.';

function lateNote({ title, decided }: CallView, asksAgain: boolean): string {
  const about = `An answer in the form for "${visibleLine(title)}" did not count`;
  if (asksAgain) return `${about}: the action has changed since, and the person is asked again.`;
  if (decided === null) return `${about}: the action did not wait any more.`;
  return `${about}: the action was ${decidedByText(decided)} before.`;
}
