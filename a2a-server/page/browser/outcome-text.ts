/** Describes the outcome of an action that no longer waits. Pure. */

/** A call in the task overview. */
export interface SettledCall {
  callId: string;
  state: string;
  decided?: { decision: string; channel: string } | undefined;
}

const DECIDED: Readonly<Record<string, string>> = {
  approve: 'approved',
  deny: 'denied',
  edit: 'edited and approved',
  answer: 'answered',
};

export function outcomeText(found: SettledCall | undefined): string {
  if (found === undefined) return 'This task has no such action.';
  const { decided, state } = found;
  if (decided === undefined) return `This action no longer waits: it is ${state}. Nobody decided it.`;
  const done = DECIDED[decided.decision] ?? decided.decision;
  return `This action no longer waits: it was ${done} over "${decided.channel}".`;
}
