/** Formats the result of a policy dry run as text, with a summary. Pure. */
import { count, oneLine } from '../../shared/text/one-line.ts';
import type { DryRunVerdict, DryRunCall } from './dry-run.ts';

export interface Summary {
  calls: number;
  tasks: number;
  /** The number of calls by their verdict under the new policy. */
  now: Record<DryRunVerdict, number>;
  /** The number of calls with a changed verdict, e.g. by `ask → allow`. */
  changed: Record<string, number>;
}

export function summaryOf(tried: readonly DryRunCall[]): Summary {
  const now = { allow: 0, ask: 0, refuse: 0 };
  const changed: Record<string, number> = {};
  for (const call of tried) {
    now[call.meets.fate] += 1;
    if (!isChanged(call)) continue;
    const change = `${call.met.fate} → ${call.meets.fate}`;
    changed[change] = (changed[change] ?? 0) + 1;
  }
  return { calls: tried.length, tasks: new Set(tried.map(({ taskId }) => taskId)).size, now, changed };
}

export function isChanged({ met, meets }: DryRunCall): boolean {
  return met.fate !== meets.fate;
}

const FATES: Readonly<Record<DryRunVerdict, string>> = {
  allow: 'runs unasked',
  ask: 'asks',
  refuse: 'is refused',
};
const FATES_THEN: Readonly<Record<DryRunVerdict, string>> = {
  allow: 'ran unasked',
  ask: 'asked',
  refuse: 'was refused',
};

export function callText(call: DryRunCall): string {
  const { taskId, seq, at, tool, title, met, meets } = call;
  const decided = met.fate === 'ask' ? `: ${met.decided ?? 'not decided'}` : ` (${met.why})`;
  return [
    `${isChanged(call) ? '*' : ' '} ${new Date(at).toISOString()} ${taskId} #${seq} ${tool}: ${oneLine(title, 200)}`,
    `    then  ${FATES_THEN[met.fate]}${oneLine(decided, 400)}`,
    `    now   ${FATES[meets.fate]} (${oneLine(meets.why, 400)})`,
  ].join('\n');
}

export function summaryText({ calls, tasks, now, changed }: Summary): string {
  const changes = Object.entries(changed).map(([change, times]) => `${change} ${times}`);
  return [
    `${count(calls, 'call')} of ${count(tasks, 'task')}: ${now.allow} would run unasked, ${now.ask} would ask, ${now.refuse} would be refused.`,
    changes.length === 0 ? 'No verdict changes.' : `Changed verdicts (marked *): ${changes.join(', ')}.`,
  ].join('\n');
}
