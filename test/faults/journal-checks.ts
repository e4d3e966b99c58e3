/** Checks rules that every journal must meet, as far as A2A shows the journal. Pure. */
import type { ToolCallEvent } from '../../shared/protocol/tool-approval.ts';
import type { StreamEvent } from '../support/wire-event.ts';
import { must } from './findings.ts';

/** S1, J1: checks that the events of a reader are the beginning of the journal. */
export function mustContinue(before: readonly StreamEvent[], after: readonly StreamEvent[]): void {
  const [later] = before.slice(after.length);
  must(
    later === undefined,
    () => `a reader saw position ${later?.seq}, which is not in the journal any more (lost)`,
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

/** The server saves the current content of files before these tools change them. */
const CHANGES_FILES: ReadonlySet<string> = new Set(['write-file', 'append-file', 'edit-file']);

/**
 * J1: positions are 1, 2, 3 … without a gap. A position without an event on the stream is a message of a person, or
 * saved file content directly after the start of a tool that changes files. The number of messages must equal the
 * number in the history of the task.
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

/** All events of a journal about one call. */
export interface CallRecord {
  callId: string;
  title: string;
  decisions: string[];
  starts: number;
  /** The outcomes in the journal, e.g. `ok`, `unknown`, `denied`. */
  ends: string[];
}

export function callRecords(journal: readonly StreamEvent[]): CallRecord[] {
  const records = new Map<string, CallRecord>();
  for (const { activity } of journal) if (activity !== undefined) note(recordOf(records, activity), activity);
  return [...records.values()];
}

function recordOf(records: Map<string, CallRecord>, { callId, title }: ToolCallEvent): CallRecord {
  const known = records.get(callId) ?? { callId, title, decisions: [], starts: 0, ends: [] };
  records.set(callId, known);
  return known;
}

function note(record: CallRecord, activity: ToolCallEvent): void {
  if (activity.type === 'tool.decided') record.decisions.push(activity.decision);
  if (activity.type === 'tool.started') record.starts += 1;
  if (activity.type === 'tool.finished') record.ends.push(activity.outcome);
}

/** What happened to an effect, in the words of the report. */
type EffectEnd =
  | 'once'
  | 'once, as edited'
  | 'denied'
  | 'unknown, skipped, had happened'
  | 'unknown, skipped, had not happened'
  | 'unknown, run again';

/**
 * E2: an effect happens once for each approval, or not at all, or the journal reports an unknown outcome. @param
 * effects the real number of effects, with the model's input and with an edited input
 */
export function checkEffect(
  marker: string,
  calls: readonly CallRecord[],
  { effects: happened, asks }: { effects: { asked: number; edited: number }; asks: boolean },
): EffectEnd {
  const [call, second] = calls.filter(({ title }) => new RegExp(`\\b${marker}\\b`).test(title));
  must(call !== undefined, `the journal has no call for ${marker} (lost)`);
  must(second === undefined, `two calls have the effect ${marker}`);
  const { decisions, starts, ends } = call;
  const edited = decisions.includes('edit');
  const effects = edited ? happened.edited : happened.asked;
  const said = (): string =>
    `${marker} (${call.callId}): decided ${decisions.join(', ') || 'never'}; started ${starts} times; ends ${ends.join(', ') || 'none'}; in fact happened ${happened.asked} times as asked for, ${happened.edited} times as edited`;
  must(
    effects === happened.asked + happened.edited,
    () => `happened with another input than the approved one: ${said()}`,
  );
  const approvals = decisions.filter((decision) => decision !== 'deny').length;
  const ok = ends.filter((end) => end === 'ok').length;
  const unknown = ends.filter((end) => end === 'unknown').length;
  must(starts <= approvals + (asks ? 0 : 1), () => `started more often than it was allowed: ${said()}`);
  must(starts === ok + unknown, () => `a start without an end, or with a wrong end: ${said()}`);
  must(ok <= 1, () => `finished twice: ${said()}`);
  must(effects <= starts, () => `happened more often than it was started: ${said()}`);
  must(effects >= ok, () => `reported as done, but did not happen: ${said()}`);
  must(ok === 1 || decisions.at(-1) === 'deny', () => `approved, but never came to an end: ${said()}`);
  if (unknown === 0) return ok === 0 ? 'denied' : edited ? 'once, as edited' : 'once';
  if (ok === 1) return 'unknown, run again';
  return effects > 0 ? 'unknown, skipped, had happened' : 'unknown, skipped, had not happened';
}
