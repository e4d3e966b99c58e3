/** Describes the actions of a waiting task, and their risks. Pure. */
import type { WaitingFor } from '../../../../shared/protocol/task-groups.ts';
import { risksOf, type Risk } from '../risks.ts';

/** Returns the risks of the pending actions, the high ones first, each once. */
export function waitingRisks(waitingFor: WaitingFor): Risk[] {
  if (waitingFor.type !== 'actions') return [];
  const risks = new Map<string, Risk>();
  for (const { tool, sideEffect, reason } of waitingFor.first) {
    if (reason === 'question') continue;
    // `risksOf` needs the preview only to recognize a question. Here, no action is a question, so any other type is
    // correct.
    for (const risk of risksOf({ tool, sideEffect, reason, preview: { type: 'text', text: '' } }))
      risks.set(risk.text, risk);
  }
  return [...risks.values()].toSorted((a, b) => Number(b.high) - Number(a.high));
}

/** Returns one line about what the task waits for, e.g. `Write a.md, and 2 more`. */
export function waitingLine(waitingFor: WaitingFor): string {
  switch (waitingFor.type) {
    case 'sign-in':
      return waitingFor.text === '' ? 'A sign-in' : waitingFor.text;
    case 'reply':
      return waitingFor.text === '' ? 'Your next message' : waitingFor.text;
    case 'actions': {
      const [first] = waitingFor.first;
      const more = waitingFor.count - 1;
      return `${first?.title ?? ''}${more > 0 ? `, and ${more} more` : ''}`;
    }
  }
}
