/** What a journal, as it is shown over A2A, must be: pure rules. */
import type { Activity } from '../../shared/protocol/tool-approval.ts';
import type { StreamEvent } from '../support/wire-event.ts';
import { must } from './findings.ts';

/** S1, J1: what a reader has seen is how the journal begins. */
export function mustContinue(before: readonly StreamEvent[], after: readonly StreamEvent[]): void {
  const [later] = before.slice(after.length);
  must(
    later === undefined,
    () => `position ${later?.seq} was seen and is not in the journal any more (lost)`,
  );
  before.forEach((event, index) => {
    const now = after[index];
    if (now?.data === event.data) return;
    must(
      now?.seq === event.seq,
      () => `where a reader saw position ${event.seq}, the journal has ${now?.seq} (gap or repeat)`,
    );
    must(false, () => `position ${event.seq} was\n  ${event.data}\nand now is\n  ${now?.data}`);
  });
}

/** Tools before whose effect what they are about to change is kept. */
const CHANGES_FILES: ReadonlySet<string> = new Set(['write-file', 'append-file', 'edit-file']);

/**
 * J1: positions 1, 2, 3 … without a gap. A position that shows nothing on a stream is a message from a person, of which there
 * are as many as the task's history has, and no more; or, right after a tool that changes files was started, that what
 * they held has been kept.
 */
export function mustBeGapFree(journal: readonly StreamEvent[], end: number, messages: number): void {
  const last = journal.at(-1)?.seq ?? 0;
  must(last === end, `the stream ends at position ${last}, the task at ${end}`);
  const kept = journal.filter(
    ({ seq, activity }, index) =>
      activity?.type === 'tool.started' &&
      CHANGES_FILES.has(activity.tool) &&
      journal[index + 1]?.seq === seq + 2,
  ).length;
  const hidden = end - journal.length - kept;
  must(
    hidden === messages,
    `${end} positions show ${journal.length} events; ${messages} message(s) explain ${messages}, not ${hidden}`,
  );
}

/** What a journal says of one call. */
export interface CallRecord {
  callId: string;
  title: string;
  decisions: string[];
  starts: number;
  /** E.g. `ok`, `unknown`, `denied`. */
  ends: string[];
}

export function callRecords(journal: readonly StreamEvent[]): CallRecord[] {
  const records = new Map<string, CallRecord>();
  for (const { activity } of journal) if (activity !== undefined) note(recordOf(records, activity), activity);
  return [...records.values()];
}

function recordOf(records: Map<string, CallRecord>, { callId, title }: Activity): CallRecord {
  const known = records.get(callId) ?? { callId, title, decisions: [], starts: 0, ends: [] };
  records.set(callId, known);
  return known;
}

function note(record: CallRecord, activity: Activity): void {
  if (activity.type === 'tool.decided') record.decisions.push(activity.decision);
  if (activity.type === 'tool.started') record.starts += 1;
  if (activity.type === 'tool.finished') record.ends.push(activity.outcome);
}

/** How an effect came out, in the words of the report. */
type EffectEnd =
  | 'once'
  | 'once, as edited'
  | 'denied'
  | 'unknown, skipped, had happened'
  | 'unknown, skipped, had not happened'
  | 'unknown, run again';

/**
 * E2: an effect happens once for each time a person allowed it, or not at all, or nobody knows and it is reported so.
 * @param effects how often it has in fact happened, as the model asked for it and as a person changed it
 */
export function checkEffect(
  marker: string,
  calls: readonly CallRecord[],
  { effects: happened, asks }: { effects: { asked: number; edited: number }; asks: boolean },
): EffectEnd {
  const [call, second] = calls.filter(({ title }) => new RegExp(`\\b${marker}\\b`).test(title));
  must(call !== undefined, `no call for ${marker} is in the journal (lost)`);
  must(second === undefined, `${marker} has been asked for by two calls`);
  const { decisions, starts, ends } = call;
  const edited = decisions.includes('edit');
  const effects = edited ? happened.edited : happened.asked;
  const said = (): string =>
    `${marker} (${call.callId}): decided ${decisions.join(', ') || 'never'}; started ${starts} times; ends ${ends.join(', ') || 'none'}; in fact happened ${happened.asked} times as asked for, ${happened.edited} times as edited`;
  must(
    effects === happened.asked + happened.edited,
    () => `happened with another input than was decided on: ${said()}`,
  );
  const approvals = decisions.filter((decision) => decision !== 'deny').length;
  const ok = ends.filter((end) => end === 'ok').length;
  const unknown = ends.filter((end) => end === 'unknown').length;
  must(starts <= approvals + (asks ? 0 : 1), () => `started more often than it was allowed: ${said()}`);
  must(starts === ok + unknown, () => `a start without an end, or an end of another kind: ${said()}`);
  must(ok <= 1, () => `finished twice: ${said()}`);
  must(effects <= starts, () => `happened more often than it was started: ${said()}`);
  must(effects >= ok, () => `reported as done, and did not happen: ${said()}`);
  must(ok === 1 || decisions.at(-1) === 'deny', () => `approved, and never came to an end: ${said()}`);
  if (unknown === 0) return ok === 0 ? 'denied' : edited ? 'once, as edited' : 'once';
  if (ok === 1) return 'unknown, run again';
  return effects > 0 ? 'unknown, skipped, had happened' : 'unknown, skipped, had not happened';
}
