/** Builds the full report of a session. `session-result.ts` selects the parts of it that a tool result contains. */
import { z } from 'zod';
import { approvalNeededText, approverInsteadOfReader } from '../../../shared/protocol/demanded-approver.ts';
import { notDoneText } from '../../../shared/protocol/not-done-text.ts';
import { quotedAction, toolSourceText } from '../../../shared/protocol/preview-text.ts';
import { pendingReasonSchema, sideEffectSchema } from '../../../shared/protocol/tool-approval.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import type { QuotedText, TextLimits } from '../../../shared/text/fit-text.ts';
import { visibleLine, visibleText } from '../../../shared/text/visible-text.ts';
import { DECISION_WORDS, decisionWordsFor, type McpDecisionWord } from '../../approvals/decision-input.ts';
import { inputBesidePreview } from './input-beside-preview.ts';
import { joinTexts } from '../../../shared/text/join-texts.ts';
import { taskUri } from '../../sessions/task-uri.ts';
import { clientSessionStateSchema, toClientSessionState } from '../../dialects/session-state-for-client.ts';
import type { SessionStateName } from '../../dialects/observation.ts';
import { type CallView, hasEnded, type TaskView } from '../../sessions/session/observed-task.ts';

const tokenCostSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.number().optional(),
  cacheWriteTokens: z.number().optional(),
  usd: z.number().nullable().describe('US dollars; null when the agent does not know the price.'),
});
export const costSchema = tokenCostSchema.extend({
  turns: z.number(),
  session: tokenCostSchema.optional().describe('All tasks of the session, if it has several.'),
});

export const sessionReportSchema = z.object({
  sessionId: z.string().describe('The handle of the session: pass it to the other tools.'),
  agent: z.string().describe('The name of the agent in the settings.'),
  taskId: z.string().nullable().describe('The id of the A2A task. Absent until the agent has named it.'),
  state: clientSessionStateSchema,
  message: z
    .string()
    .describe("The text of the agent's status, or why the task is not delivered, known or followed."),
  output: z.string().describe('What the agent has said so far; when completed, its result.'),
  notDone: z
    .string()
    .optional()
    .describe('The calls that a completed task did not do, e.g. "not done: Write a.txt (denied)".'),
  pending: z
    .array(
      z.object({
        callId: z.string().describe('A decision names the action by this id.'),
        shown: z.string().describe('The code of this question: a decision carries it.'),
        tool: z.string(),
        title: z.string().describe('One line about the effect, e.g. `Write test.md`.'),
        source: z.string().describe('Where the tool comes from, e.g. `built in`.'),
        sideEffect: sideEffectSchema,
        reason: pendingReasonSchema,
        why: z.string().describe('Why it waits, and what a decision means. Say this to the person.'),
        rule: z.string().optional().describe("The operator's rule that asks."),
        presence: z.literal(true).optional().describe('True if an approval needs a passkey, on the page.'),
        preview: z
          .string()
          .describe(
            'What it would do. Lines of the agent begin with "│"; hidden characters are shown as codes.',
          ),
        cut: z
          .number()
          .describe('Characters of the preview that did not fit. Unless 0, it cannot be approved here.'),
        input: z.record(z.string(), z.unknown()),
        unshown: z
          .record(z.string(), z.unknown())
          .describe('The fields of the input that the preview does not show.'),
        expiresAt: z.string().nullable().describe('RFC 3339. Absent if the action never expires.'),
        decisions: z.array(z.enum(DECISION_WORDS)).describe('The decisions that the action takes here.'),
      }),
    )
    .describe('Actions that wait for a decision. Nothing of them has run.'),
  question: z
    .object({ callId: z.string(), shown: z.string(), text: z.string() })
    .nullable()
    .describe('A question of the agent that is not a pending action.'),
  calls: z
    .array(
      z.object({
        callId: z.string(),
        tool: z.string(),
        title: z.string(),
        state: z.string().describe('E.g. `running`, `ok`, `error`, `stopped`, `denied`.'),
        toolId: z.string().nullable().describe('The id of the execution, while it runs.'),
        summary: z.string().nullable().describe('One line about the result.'),
      }),
    )
    .describe('The tool calls so far, oldest first, without those in pending.'),
  cost: costSchema
    .nullable()
    .describe(
      'Null while the current cost is unknown; check_task_progress_and_status asks the agent for it.',
    ),
  notes: z
    .array(z.string())
    .describe('What the person should also know, e.g. the outcome of a cancelled call.'),
  next: z.string().describe('What to do now.'),
});
export type SessionReport = z.infer<typeof sessionReportSchema>;

/** The maximum length of the output in a result, in characters. Clients cut or refuse longer results. */
const MAX_OUTPUT_CHARACTERS = 150_000;
const MAX_CALLS = 50;
/**
 * The maximum length of all previews together, in characters. It keeps a result below 25,000 tokens, because Claude
 * Code cuts longer results.
 */
const MAX_PREVIEW_CHARACTERS = 30_000;

export interface SessionReportFacts {
  sessionId: string;
  agent: string;
  state: SessionStateName;
  view: TaskView | undefined;
  /** Why the view of the task is incomplete, e.g. because the message is not delivered; see `sessionProblem`. */
  problem: string | undefined;
  notes: readonly string[];
  next: string;
  /** The number of characters of the output that the client already has. The report omits them. */
  from?: number | undefined;
}

export function buildSessionReport({
  sessionId,
  agent,
  state,
  view,
  problem,
  notes,
  next,
  from = 0,
}: SessionReportFacts): SessionReport {
  const whole = view === undefined ? '' : agentOutputText(view);
  const to = shownOutputEndIndex(whole, from);
  const output = from === 0 ? whole.slice(0, to) : whole.slice(from, to).trimStart();
  const pending = pendingReports(view?.pending ?? []);
  const waiting = new Set(pending.map(({ callId }) => callId));
  const calls = (view?.calls ?? []).filter(({ callId }) => !waiting.has(callId));
  const missing = notDoneText(state, view?.calls ?? []);
  const hidden = calls.length - MAX_CALLS;
  return {
    sessionId,
    agent,
    taskId: view === undefined || view.taskId === '' ? null : view.taskId,
    state: toClientSessionState(state),
    message: visibleText(problem ?? statusText(view)),
    output: visibleText(output),
    ...(missing !== '' && { notDone: missing }),
    pending,
    question: questionOf(view),
    calls: calls.slice(-MAX_CALLS).map(callReport),
    cost: view?.cost ?? null,
    notes: [
      ...notes,
      ...(to < whole.length ? [cutNote(agent, view, { characters: whole.length, to })] : []),
      ...(hidden > 0 ? [`${String(hidden)} earlier tool calls are not shown.`] : []),
    ],
    next,
  };
}

/** Returns the agent's message about the state. Returns '' if actions or a question wait, because those say more. */
function statusText(view: TaskView | undefined): string {
  return view === undefined || view.pending.length > 0 || view.question !== null ? '' : view.text;
}

function callReport({
  callId,
  tool,
  title,
  state,
  toolId,
  summary,
}: CallView): SessionReport['calls'][number] {
  return {
    callId,
    tool: visibleLine(tool),
    title: visibleLine(title),
    state,
    toolId,
    summary: summary === null ? null : visibleLine(summary),
  };
}

/** Returns the index after the last shown character, for a result that shows the output from index `from`. */
export function shownOutputEndIndex(output: string, from: number): number {
  return Math.min(output.length, from + MAX_OUTPUT_CHARACTERS);
}

/**
 * Returns the note about a cut output. R70: the client can read the rest, so the note names the resource that contains
 * it.
 */
function cutNote(
  agent: string,
  view: TaskView | undefined,
  { characters, to }: { characters: number; to: number },
): string {
  const { sessionId = '', taskId = '' } = view ?? {};
  const address = { agent, sessionId, taskId, part: 'artifacts' } as const;
  return `The output has ${String(characters)} characters; the first ${String(to)} are shown. The rest is the resource ${taskUri(address, to)}, all of it ${taskUri(address)}.`;
}

/**
 * Returns the whole output of the agent, in order. If an ended task has no artifacts, returns the agent's last message.
 */
export function agentOutputText(view: TaskView): string {
  const answers = view.outputs.filter(({ aside }) => aside === undefined);
  const output = joinTexts(
    '\n\n',
    answers.map(({ text }) => text.trim()),
  );
  if (output !== '' || !hasEnded(view)) return output;
  return view.text === '' ? view.reply : view.text;
}

function questionOf(view: TaskView | undefined): SessionReport['question'] {
  const question = view?.question ?? null;
  return question === null
    ? null
    : { callId: question.id, shown: question.shown, text: visibleText(question.text) };
}

/**
 * Converts pending actions for a tool result. D5: a person can approve only what is shown in full, so an action with a
 * cut preview cannot be approved.
 */
export function pendingReports(pending: readonly PendingAction[]): SessionReport['pending'] {
  const characters = Math.floor(MAX_PREVIEW_CHARACTERS / Math.max(1, pending.length));
  return pending.map((action) => pendingReport(action, { characters }));
}

const WHY: Readonly<Record<PendingAction['reason'], string>> = {
  approval: 'It has side effects and needs approval.',
  'outcome-unknown':
    'It was started before and its outcome was lost (outcome-unknown): approve runs it again, deny skips it.',
  'content-changed': 'What was shown before has changed since (content-changed). This is how it is now.',
  question: 'It is a question: it takes an answer, and nothing runs.',
};

const TOO_LONG =
  'The preview is too long to show here, so it cannot be approved here. The person reads all of it with "mcp-a2a-bridge show", or on the page, and decides there.';

const PASSKEY =
  'A rule demands presence: only the person can approve it, with a passkey on the approval page. "mcp-a2a-bridge page" prints a link to that page. No tool, form or command line can approve it. It can be denied here.';

const OTHER_APPROVER =
  'That person approves it with their own token, not over this connection. It can be denied here. Otherwise it waits for them.';

const OTHER_DECIDES =
  'That person decides it with their own token, not over this connection. Nothing can be decided here. It waits for them, unless the task is cancelled.';

/**
 * Converts a pending action for a report.
 * @param room the maximum size of the preview. Without it, the preview is complete.
 */
export function pendingReport(action: PendingAction, room?: TextLimits): SessionReport['pending'][number] {
  const preview = quotedAction(action, room);
  const { callId, shown, tool, title, sideEffect: effect, reason, rule, presence, input, expiresAt } = action;
  const other = approverInsteadOfReader(action);
  return {
    callId,
    shown,
    tool: visibleLine(tool),
    title: visibleLine(title),
    source: visibleLine(toolSourceText(action.source)),
    sideEffect: effect,
    reason,
    why: [
      WHY[reason],
      ...(other === undefined ? [] : [`${approvalNeededText(other)}. ${othersPart(action)}`]),
      ...(presence === true && other === undefined ? [PASSKEY] : []),
      ...(preview.extent === 'cut' ? [TOO_LONG] : []),
    ].join(' '),
    ...(rule === undefined ? {} : { rule: visibleLine(rule) }),
    ...(presence === true && { presence }),
    preview: preview.text,
    cut: preview.extent === 'cut' ? preview.left : 0,
    input,
    unshown: inputBesidePreview(action),
    expiresAt,
    decisions: offeredDecisionWords(action, preview),
  };
}

function othersPart({ decisions }: PendingAction): string {
  return decisions.length === 0 ? OTHER_DECIDES : OTHER_APPROVER;
}

/**
 * Returns the decisions that a person may make. D5: a person can approve only what is shown in full. So if the preview
 * was cut, the person can only deny the action, or answer a question.
 */
export function offeredDecisionWords(
  action: PendingAction,
  { extent }: Pick<QuotedText, 'extent'>,
): McpDecisionWord[] {
  const words = decisionWordsFor(action);
  return extent === 'whole' ? words : words.filter((word) => word === 'deny' || word === 'answer');
}
