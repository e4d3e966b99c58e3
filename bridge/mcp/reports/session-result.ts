/**
 * Selects the parts of a session's report for a tool result. The first result of a task contains everything that a
 * person must know. Later results contain only changes. Pure.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { CallView } from '../../sessions/session/observed-task.ts';
import { type SessionReport, sessionReportSchema } from './session-report.ts';

const { shape } = sessionReportSchema;
const pendingShape = shape.pending.element.shape;
const callShape = shape.calls.element.shape;

export const sessionResultSchema = sessionReportSchema.extend({
  delta: z.string().optional().describe('Present if the result leaves out what an earlier one has said.'),
  taskId: shape.taskId.optional(),
  pending: z.array(
    z.object({
      callId: pendingShape.callId,
      /**
       * The code of the action. D2: a decision is valid only for what the person saw. So the result contains the code
       * only together with the preview.
       */
      shown: pendingShape.shown.optional(),
      title: pendingShape.title,
      /** True if an earlier result contained the same preview. */
      shownBefore: z.literal(true).optional(),
      tool: pendingShape.tool.optional(),
      source: pendingShape.source.optional(),
      sideEffect: z.optional(pendingShape.sideEffect),
      reason: z.optional(pendingShape.reason),
      why: pendingShape.why.optional(),
      rule: pendingShape.rule,
      presence: pendingShape.presence,
      preview: pendingShape.preview.optional(),
      cut: pendingShape.cut.optional(),
      /** The input fields that the preview does not show. With the extent `whole`, all input fields. */
      input: pendingShape.input.optional(),
      expiresAt: pendingShape.expiresAt.optional(),
      decisions: pendingShape.decisions.optional(),
    }),
  ),
  calls: z.array(z.object({ ...callShape, toolId: callShape.toolId.optional() })).optional(),
  notes: shape.notes.optional(),
});
export type SessionResult = z.infer<typeof sessionResultSchema>;
export type PendingResult = SessionResult['pending'][number];
type PendingReport = SessionReport['pending'][number];

/** What a client already has from earlier results of a task. */
export interface SeenResult {
  taskId: string | null;
  state: SessionReport['state'];
  message: string;
  /** The length and the hash of the output that the client has. */
  output: { characters: number; hash: string };
  /**
   * The previews that the client has received. Each entry is the code of an action, with the number of characters that
   * were cut from its preview.
   */
  previews: ReadonlySet<string>;
  question: string | undefined;
  /** The state of each call in the earlier result, by call id. */
  calls: ReadonlyMap<string, string>;
  cost: string;
}

/**
 * How much of the report a result contains.
 *
 * - `whole`: everything, with complete inputs.
 * - `first`: everything, but the inputs omit what the preview shows.
 * - `since`: only what has changed since the client's last result of the task.
 */
export type ReportExtent =
  | { type: 'whole' }
  | { type: 'first' }
  | { type: 'since'; seen: SeenResult; delta: string };

export function sessionResultOf(report: SessionReport, extent: ReportExtent): SessionResult {
  if (extent.type === 'whole') return { ...report, pending: report.pending.map(toWholePendingResult) };
  const { calls, notes, pending, ...rest } = report;
  if (extent.type === 'first')
    return {
      ...rest,
      pending: pending.map(withoutShownInput),
      ...(calls.length > 0 && { calls: calls.map(toResultCall) }),
      ...(notes.length > 0 && { notes }),
    };
  const { seen, delta } = extent;
  const { taskId: _, cost, message, ...kept } = rest;
  const changed = calls.filter((call) => seen.calls.get(call.callId) !== entryOf(call));
  return {
    ...kept,
    delta,
    message: message === seen.message ? '' : message,
    pending: pending.map((each) =>
      hadPreviewBefore(each, seen) ? toPendingResultWithoutPreview(each) : withoutShownInput(each),
    ),
    cost: JSON.stringify(cost) === seen.cost ? null : cost,
    ...(changed.length > 0 && { calls: changed.map(toResultCall) }),
    ...(notes.length > 0 && { notes }),
  };
}

/**
 * Returns what a client has received, including this report.
 * @param output the agent's unescaped output, as far as the client has it
 */
export function seenResultOf(report: SessionReport, output: string): SeenResult {
  const { taskId, state, message, pending, question, calls, cost } = report;
  return {
    taskId,
    state,
    message,
    output: { characters: output.length, hash: hashOf(output) },
    previews: new Set(pending.map(previewOf)),
    question: question?.shown,
    calls: new Map(calls.map((call) => [call.callId, entryOf(call)])),
    cost: JSON.stringify(cost),
  };
}

/**
 * Returns the number of characters of the output that the client has. Returns 0 if that part of the output has changed.
 */
export function seenOutputCharacters({ output: { characters, hash } }: SeenResult, output: string): number {
  return hashOf(output.slice(0, characters)) === hash ? characters : 0;
}

/**
 * Returns true if the report contains something new for the client.
 * @param report its output must contain only new characters
 */
export function hasNewContent(report: SessionReport, seen: SeenResult): boolean {
  const { state, message, output, pending, question, calls, notes } = report;
  return (
    state !== seen.state ||
    message !== seen.message ||
    output !== '' ||
    notes.length > 0 ||
    question?.shown !== seen.question ||
    pending.some((each) => !hadPreviewBefore(each, seen)) ||
    calls.some((call) => seen.calls.get(call.callId) !== entryOf(call))
  );
}

export function withoutShownInput({
  unshown,
  why,
  cut,
  reason,
  input: _input,
  ...action
}: PendingReport): PendingResult {
  return {
    ...action,
    reason,
    // If an action waits for an approval, its side effect explains why. So `why` is omitted, unless this reader cannot
    // approve the action.
    ...((reason !== 'approval' || !action.decisions.includes('approve')) && { why }),
    ...(cut > 0 && { cut }),
    ...(cut === 0 && Object.keys(unshown).length > 0 && { input: unshown }),
  };
}

/**
 * Converts an action whose preview an earlier result contained. D2: a decision is valid only for what the person saw.
 * Several conversations may share one client, and the current one might not contain the earlier result. So this result
 * contains neither the preview nor the code.
 */
function toPendingResultWithoutPreview({ callId, title, decisions }: PendingReport): PendingResult {
  return { callId, title, shownBefore: true, ...(decisions.length === 0 && { decisions }) };
}

export function hadPreviewBefore(action: PendingReport, { previews }: SeenResult): boolean {
  return previews.has(previewOf(action));
}

function previewOf({ shown, cut }: PendingReport): string {
  return `${shown} ${String(cut)}`;
}

export function toWholePendingResult({ unshown: _unshown, ...action }: PendingReport): PendingResult {
  return action;
}

const RUNNING: CallView['state'] = 'running';

/** Converts a call for a result. Only a running tool execution has an id, because an ended one cannot be aborted. */
function toResultCall({ toolId, ...call }: SessionReport['calls'][number]) {
  return call.state === RUNNING ? { ...call, toolId } : call;
}

function entryOf({ state, toolId, title, summary }: SessionReport['calls'][number]): string {
  return JSON.stringify([state, toolId, title, summary]);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
