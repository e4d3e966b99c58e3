/**
 * Builds a short status of a session, of at most 300 tokens, which a model can read between two steps. The most
 * important items are added first. `left` is the number of items that do not fit. `wait_for_task` returns the full
 * report. Pure.
 */
import { z } from 'zod';
import { notDoneText } from '../../../shared/protocol/not-done-text.ts';
import { safeCutBefore } from '../../../shared/text/fit-text.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { CallView, Cost, TaskView } from '../../sessions/session/observed-task.ts';
import { grantText, unexpiredGrantViews } from './grant-text.ts';
import {
  type PendingAction,
  toolServerViewSchema,
  type ToolServerView,
} from '../../../shared/protocol/tool-approval.ts';
import { runningOutputTail } from './running-output-tail.ts';
import { phaseText } from './phase.ts';
import { costSchema } from './session-report.ts';
import type { SessionStateName } from '../../dialects/observation.ts';
import { clientSessionStateSchema, toClientSessionState } from '../../dialects/session-state-for-client.ts';
import { toolSourceText } from '../../../shared/protocol/preview-text.ts';
import { todosLine } from './todos-line.ts';
import { agentTextTokens, bridgeTextTokens } from './token-estimate.ts';
import { joinTexts } from '../../../shared/text/join-texts.ts';

export const statusReportSchema = z.object({
  sessionId: z.string(),
  /** The name of the agent in the settings. */
  agent: z.string(),
  /** The id of the A2A task. Null before the agent has sent it. */
  taskId: z.string().nullable(),
  state: clientSessionStateSchema,
  phase: z.string().describe('What it is doing, in a few words.'),
  /** The agent's message about the state of the task. */
  message: z.string(),
  /** The running tools, and as many of the newest other tools as fit. */
  tools: z.array(
    z.object({
      tool: z.string(),
      title: z.string(),
      state: z.string(),
      toolId: z.string().nullable(),
      /** The start time in RFC 3339. */
      startedAt: z.string().nullable(),
      tail: z.string().optional().describe('The end of its output so far.'),
    }),
  ),
  /** The actions that wait for a decision, without their previews. */
  pending: z.array(z.object({ callId: z.string(), tool: z.string(), title: z.string(), source: z.string() })),
  /** A question of the agent that is not a pending action. */
  question: z.string().nullable(),
  grants: z
    .array(z.string())
    .optional()
    .describe('Grants of trust that are valid; revoke_trust revokes them by id.'),
  todos: z.string().optional().describe('The progress of its todo list.'),
  servers: z
    .array(toolServerViewSchema)
    .optional()
    .describe('MCP servers whose tools the agent has; those that are not ready come first.'),
  cost: costSchema
    .extend({
      usd: z.number().optional().describe('US dollars; absent if unknown, or if it did not fit.'),
    })
    .nullable(),
  changes: z.array(z.string()).describe('What happened since the given cursor, oldest first.'),
  changesComplete: z.boolean().describe('False if more may have happened than is listed here.'),
  cursor: z.number().describe('Pass it as since next time.'),
  left: z.number().describe('How many pending actions, running tools and grants of trust did not fit.'),
  /** What the person should also know, e.g. what happened to the task of a cancelled tool call. */
  notes: z.array(z.string()),
  next: z.string().describe('What to do now.'),
});
export type StatusReport = z.infer<typeof statusReportSchema>;
/** A status without notes. Notes are reported only once, so the caller adds them. */
type ReportWithoutNotes = Omit<StatusReport, 'notes'>;

export interface StatusReportFacts {
  sessionId: string;
  agent: string;
  state: SessionStateName;
  view: TaskView | undefined;
  cursor: number;
  /** Descriptions of the events after the client's cursor, oldest first. */
  changes: readonly string[];
  changesComplete: boolean;
  /** Why the view of the task is incomplete, e.g. because the message is not delivered; see `sessionProblem`. */
  problem: string | undefined;
  next: string;
  /** The current time in milliseconds since 1970. */
  now: number;
}

/**
 * The maximum number of tokens of the structured result. The limit holds if ids have at most 40 characters and names at
 * most 30.
 */
export const MAX_STATUS_REPORT_TOKENS = 300;
/** The number of tokens that are kept free, because the estimate is too low for some texts. */
const RESERVED_TOKENS = 15;

const MAX_TOOLS = 5;
const MAX_CHANGES = 15;
const MAX_TEXT_CHARACTERS = 60;
/** The maximum length of the text about one grant, in characters. Its id, scope and expiry come first. */
const MAX_GRANT_CHARACTERS = 120;
/** The possible lengths of the agent's message, in characters. The status has the largest one that fits. */
const MESSAGE_CHARACTERS = [500, 240, 100, 40];
/** The possible lengths of a running tool's output, in characters. The status has the largest one that fits. */
const OUTPUT_CHARACTERS = [400, 240, 140, 80, 50, 30];

export function statusReportOf(facts: StatusReportFacts): ReportWithoutNotes {
  const { view, changes, changesComplete, now } = facts;
  const { pending = [], calls = [], servers = [], cost = null, grants } = view ?? {};
  const running = calls.filter(isRunning);
  const rest = calls.filter((call) => !isRunning(call));
  const draft = new StatusDraft(requiredFieldsOnly(facts));
  const left =
    draft.addEach(pending, (action, { pending: before }) => ({
      pending: [...before, pendingField(action)],
    })) +
    addTools(draft, running.slice(-MAX_TOOLS)) +
    draft.addEach(unexpiredGrantViews(grants, now).toReversed(), (grant, { grants: before = [] }) => ({
      grants: [clipBridgeText(grantText(grant), MAX_GRANT_CHARACTERS), ...before],
    })) +
    Math.max(0, running.length - MAX_TOOLS);
  addSayings(draft, facts);
  const todos = todosLine(view);
  if (todos !== null) draft.add({ todos: clipBridgeText(todos) });
  if (cost !== null) draft.add({ cost: basicCostOf(cost) });
  // Servers that are not ready or have an error come first.
  draft.addEach(
    servers.toSorted((a, b) => Number(isWorking(a)) - Number(isWorking(b))),
    (server, { servers: before = [] }) => ({ servers: [...before, serverField(server)] }),
  );
  // The newest changes are added first, because they matter most.
  draft.addEach(changes.slice(-MAX_CHANGES).toReversed(), (change, { changes: before }) => ({
    changes: [clipBridgeText(change), ...before],
  }));
  draft.add({ changesComplete: changesComplete && draft.report.changes.length === changes.length });
  if (view !== undefined) addTails(draft, view, running);
  const room = Math.max(0, MAX_TOOLS - draft.report.tools.length);
  addTools(draft, rest.slice(Math.max(0, rest.length - room)));
  if (cost !== null) addPrice(draft, cost);
  return { ...draft.report, left };
}

/** A status that contains only what fits into `MAX_STATUS_REPORT_TOKENS`. */
class StatusDraft {
  #report: ReportWithoutNotes;
  #tokens: number;

  constructor(required: ReportWithoutNotes) {
    this.#report = required;
    this.#tokens = tokensOf({ ...required, notes: [] });
  }

  get report(): ReportWithoutNotes {
    return this.#report;
  }

  /**
   * Adds or replaces these fields, if they fit. Returns false if they do not fit. Measures only the fields that change.
   * Most statuses call this method about ten times, and measuring the whole report each time would be slow.
   */
  add(more: Partial<ReportWithoutNotes>): boolean {
    const replaced = Object.fromEntries(Object.entries(this.#report).filter(([key]) => key in more));
    const next = this.#tokens + tokensOf(more) - tokensOf(replaced);
    if (next > MAX_STATUS_REPORT_TOKENS - RESERVED_TOKENS) return false;
    this.#report = { ...this.#report, ...more };
    this.#tokens = next;
    return true;
  }

  /**
   * Adds items until one does not fit. Returns the number of items that were not added.
   * @param fieldsWith returns the fields of the report with the item
   */
  addEach<Item>(
    items: readonly Item[],
    fieldsWith: (item: Item, report: ReportWithoutNotes) => Partial<ReportWithoutNotes>,
  ): number {
    const at = items.findIndex((item) => !this.add(fieldsWith(item, this.#report)));
    return at === -1 ? 0 : items.length - at;
  }
}

/** Returns a status that contains only the required fields. */
function requiredFieldsOnly({
  sessionId,
  agent,
  state,
  view,
  cursor,
  changes,
  next,
}: StatusReportFacts): ReportWithoutNotes {
  return {
    sessionId,
    agent,
    taskId: view === undefined || view.taskId === '' ? null : view.taskId,
    state: toClientSessionState(state),
    phase: clipBridgeText(phaseText(view, state)),
    message: '',
    tools: [],
    pending: [],
    question: null,
    cost: null,
    changes: [],
    changesComplete: changes.length === 0,
    cursor,
    left: 0,
    next,
  };
}

function pendingField({ callId, tool, title, source }: PendingAction): StatusReport['pending'][number] {
  return {
    callId,
    tool: shortenAgentText(tool),
    title: shortenAgentText(title),
    source: shortenAgentText(toolSourceText(source)),
  };
}

/**
 * Adds as many calls as fit. If not all fit, leaves out the oldest. The report lists the oldest first. Returns the
 * number of calls that did not fit.
 */
function addTools(draft: StatusDraft, calls: readonly CallView[]): number {
  return draft.addEach(calls.toReversed(), ({ tool, title, state, toolId, startedAt }, { tools }) => ({
    tools: [
      { tool: shortenAgentText(tool), title: shortenAgentText(title), state, toolId, startedAt },
      ...tools,
    ],
  }));
}

/** Adds the problem, the question or the agent's message. Shortens the text until it fits. */
function addSayings(draft: StatusDraft, { view, problem }: StatusReportFacts): void {
  const question = problem === undefined ? (view?.question ?? null) : null;
  const missing = view === undefined ? '' : notDoneText(view.state, view.calls);
  const text = view === undefined || view.pending.length > 0 ? '' : view.text;
  const message = problem ?? joinTexts('. ', [missing, text]);
  MESSAGE_CHARACTERS.some((most) =>
    draft.add(
      question === null
        ? { message: shortenAgentText(message, most) }
        : { question: shortenAgentText(question.text, most) },
    ),
  );
}

/** Adds the end of the output of each listed running tool, the newest tool first. Shortens the output until it fits. */
function addTails(draft: StatusDraft, view: TaskView, running: readonly CallView[]): void {
  for (const call of running.toReversed())
    OUTPUT_CHARACTERS.some((most) => {
      const tail = runningOutputTail(view, call, most);
      const tools = draft.report.tools.map((each) =>
        each.toolId !== null && each.toolId === call.toolId ? { ...each, tail } : each,
      );
      return tail === '' || draft.add({ tools });
    });
}

function serverField({ error, ...server }: ToolServerView): ToolServerView {
  return {
    ...server,
    name: shortenAgentText(server.name),
    ...(error !== undefined && { error: shortenAgentText(error) }),
  };
}

function isWorking({ state, error }: ToolServerView): boolean {
  return state === 'ready' && error === undefined;
}

function basicCostOf({ turns, inputTokens, outputTokens }: Cost): NonNullable<StatusReport['cost']> {
  return { turns, inputTokens, outputTokens };
}

/** Adds the price. It comes late, because the token counts give nearly the same information. */
function addPrice(draft: StatusDraft, cost: Cost): void {
  const { session, usd, ...tokens } = cost;
  const price = usd !== null && usd > 0 ? { usd: roundPrice(usd) } : {};
  // If not everything fits, the counts of cached tokens are omitted first, because they only explain the price.
  if (!draft.add({ cost: { ...tokens, ...price } })) draft.add({ cost: { ...basicCostOf(cost), ...price } });
  const { cost: told } = draft.report;
  if (session === undefined || told === null) return;
  const { usd: ofSession } = session;
  draft.add({
    cost: { ...told, session: { ...session, usd: ofSession === null ? null : roundPrice(ofSession) } },
  });
}

/** Rounds a price to two decimals, or to four below one dollar. More digits would cost tokens. */
function roundPrice(usd: number): number {
  return Number(usd.toFixed(usd < 1 ? 4 : 2));
}

function isRunning(call: CallView): boolean {
  return call.state === 'running';
}

/**
 * Estimates the tokens of some fields of the structured result. `RESERVED_TOKENS` covers the difference between the sum
 * of such estimates and one estimate of all fields. The text of the status is not measured, because it is always
 * shorter than the structured result.
 */
function tokensOf(fields: Partial<StatusReport>): number {
  let agentText = 0;
  const frame = JSON.stringify(fields, (key, value: unknown) => {
    if (typeof value !== 'string' || OWN_TEXT_FIELDS.has(key)) return value;
    agentText += agentTextTokens(JSON.stringify(value));
    return '';
  });
  return agentText + bridgeTextTokens(frame);
}

const OWN_TEXT_FIELDS: ReadonlySet<string> = new Set(['state', 'next']);

/**
 * Returns text of an agent on one line. Runs of white space become one space. That is safe here, because no person
 * decides on the basis of this status.
 */
function shortenAgentText(text: string, most = MAX_TEXT_CHARACTERS): string {
  return visibleLine(text.replaceAll(/[ \t\n]+/g, ' ').trim(), most);
}

/** Shortens a text of the bridge. Parts of it that come from an agent are already escaped. */
function clipBridgeText(words: string, most = MAX_TEXT_CHARACTERS): string {
  return words.length <= most ? words : `${words.slice(0, safeCutBefore(words, most - 1))}…`;
}
