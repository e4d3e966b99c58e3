/**
 * Builds a short status of a session, of at most 300 tokens, which a model can read between two steps. The most
 * important items are added first. `left` is the number of items that do not fit. `wait_for_task` returns the full
 * report. Pure.
 */
import { z } from 'zod';
import { notDoneText } from '../../../shared/protocol/not-done-text.ts';
import { visibleLine, safeCutBefore } from '../../../shared/text/visible-text.ts';
import type { CallView, Cost, TaskView } from '../../sessions/session/observed-task.ts';
import { grantText, unexpiredGrantViews } from './grant-text.ts';
import { toolServerViewSchema, type ToolServerView } from '../../../shared/protocol/tool-approval.ts';
import { runningOutputTail } from './running-output-tail.ts';
import { phaseText } from './phase.ts';
import { costSchema } from './session-report.ts';
import type { SessionStateName } from '../../dialects/observation.ts';
import { clientSessionStateSchema, toClientSessionState } from '../../dialects/session-state-for-client.ts';
import { toolSourceText } from '../../../shared/protocol/preview-text.ts';
import { todosLine } from './todos-line.ts';
import { agentTextTokens, bridgeTextTokens } from './token-estimate.ts';

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
  const { view } = facts;
  const running = (view?.calls ?? []).filter(isRunning);
  const rest = (view?.calls ?? []).filter((call) => !isRunning(call));
  let report = requiredFieldsOnly(facts);
  let tokens = tokensOf({ ...report, notes: [] });
  // Measures only the fields that change. Most statuses need about ten calls of `add`, and measuring the whole report
  // each time would be slow.
  const add = (more: Partial<ReportWithoutNotes>): boolean => {
    const replaced = Object.fromEntries(Object.entries(report).filter(([key]) => key in more));
    const next = tokens + tokensOf(more) - tokensOf(replaced);
    if (next > MAX_STATUS_REPORT_TOKENS - RESERVED_TOKENS) return false;
    report = { ...report, ...more };
    tokens = next;
    return true;
  };
  const left =
    addPending(view, add, () => report) +
    addTools(running.slice(-MAX_TOOLS), add, () => report) +
    addGrants(facts, add, () => report);
  report = { ...report, left: left + Math.max(0, running.length - MAX_TOOLS) };
  addSayings(facts, add);
  addTodos(view, add);
  addCost(view?.cost ?? null, add);
  addServers(view?.servers ?? [], add, () => report);
  addChanges(facts, add, () => report);
  addTails(view, add, () => report);
  addTools(rest.slice(-Math.max(0, MAX_TOOLS - report.tools.length)), add, () => report);
  addPrice(view?.cost ?? null, add);
  addSessionCost(view?.cost ?? null, add, () => report);
  return report;
}

type AddIfItFits = (more: Partial<ReportWithoutNotes>) => boolean;
type CurrentReport = () => ReportWithoutNotes;

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
    phase: clipBridgeText(phaseText(view, state), MAX_TEXT_CHARACTERS),
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

/** Adds the pending actions. Returns the number of actions that did not fit. */
function addPending(view: TaskView | undefined, add: AddIfItFits, current: CurrentReport): number {
  const pending = view?.pending ?? [];
  for (const [index, { callId, tool, title, source }] of pending.entries()) {
    const each = {
      callId,
      tool: shortenAgentText(tool, MAX_TEXT_CHARACTERS),
      title: shortenAgentText(title, MAX_TEXT_CHARACTERS),
      source: shortenAgentText(toolSourceText(source), MAX_TEXT_CHARACTERS),
    };
    if (!add({ pending: [...current().pending, each] })) return pending.length - index;
  }
  return 0;
}

/** Adds the calls, the newest first. They are listed oldest first. Returns the number of calls that did not fit. */
function addTools(calls: readonly CallView[], add: AddIfItFits, current: CurrentReport): number {
  for (const [index, { tool, title, state, toolId, startedAt }] of calls.toReversed().entries()) {
    const each = {
      tool: shortenAgentText(tool, MAX_TEXT_CHARACTERS),
      title: shortenAgentText(title, MAX_TEXT_CHARACTERS),
      state,
      toolId,
      startedAt,
    };
    if (!add({ tools: [each, ...current().tools] })) return calls.length - index;
  }
  return 0;
}

/** Adds the grants, the newest first. Returns the number of grants that did not fit. */
function addGrants({ view, now }: StatusReportFacts, add: AddIfItFits, current: CurrentReport): number {
  const standing = unexpiredGrantViews(view?.grants, now);
  for (const [index, grant] of standing.toReversed().entries()) {
    const words = clipBridgeText(grantText(grant), MAX_GRANT_CHARACTERS);
    if (!add({ grants: [words, ...(current().grants ?? [])] })) return standing.length - index;
  }
  return 0;
}

/** Adds the problem, the question or the agent's message. Shortens the text until it fits. */
function addSayings({ view, problem }: StatusReportFacts, add: AddIfItFits): void {
  const question = problem === undefined ? (view?.question ?? null) : null;
  const missing = view === undefined ? '' : notDoneText(view.state, view.calls);
  const text = view === undefined || view.pending.length > 0 ? '' : view.text;
  const message = problem ?? [missing, text].filter((each) => each !== '').join('. ');
  for (const most of MESSAGE_CHARACTERS) {
    const said =
      question === null
        ? { message: shortenAgentText(message, most) }
        : { question: shortenAgentText(question.text, most) };
    if (add(said)) return;
  }
}

/** Adds the end of the output of each listed running tool, the newest tool first. */
function addTails(view: TaskView | undefined, add: AddIfItFits, current: CurrentReport): void {
  for (const call of (view?.calls ?? []).filter(isRunning).toReversed()) {
    for (const most of OUTPUT_CHARACTERS) {
      const tail = view === undefined ? '' : runningOutputTail(view, call, most);
      const tools = current().tools.map((each) =>
        each.toolId !== null && each.toolId === call.toolId ? { ...each, tail } : each,
      );
      if (tail === '' || add({ tools })) break;
    }
  }
}

function addTodos(view: TaskView | undefined, add: AddIfItFits): void {
  const line = todosLine(view);
  if (line !== null) add({ todos: clipBridgeText(line, MAX_TEXT_CHARACTERS) });
}

/** Adds the agent's MCP servers. Servers that are not ready or have an error come first. */
function addServers(servers: readonly ToolServerView[], add: AddIfItFits, current: CurrentReport): void {
  const [working, failing] = [servers.filter(isWorking), servers.filter((server) => !isWorking(server))];
  for (const { error, ...server } of [...failing, ...working]) {
    const each = {
      ...server,
      name: shortenAgentText(server.name, MAX_TEXT_CHARACTERS),
      ...(error !== undefined && { error: shortenAgentText(error, MAX_TEXT_CHARACTERS) }),
    };
    if (!add({ servers: [...(current().servers ?? []), each] })) return;
  }
}

function isWorking({ state, error }: ToolServerView): boolean {
  return state === 'ready' && error === undefined;
}

function addCost(cost: Cost | null, add: AddIfItFits): void {
  if (cost === null) return;
  const { turns, inputTokens, outputTokens } = cost;
  add({ cost: { turns, inputTokens, outputTokens } });
}

/** Adds the price. It comes late, because the token counts give nearly the same information. */
function addPrice(cost: Cost | null, add: AddIfItFits): void {
  if (cost === null) return;
  const { session: _, usd, ...tokens } = cost;
  const price = usd !== null && usd > 0 ? { usd: roundPrice(usd) } : {};
  // If not everything fits, the counts of cached tokens are omitted first, because they only explain the price.
  if (!add({ cost: { ...tokens, ...price } })) {
    const { turns, inputTokens, outputTokens } = tokens;
    add({ cost: { turns, inputTokens, outputTokens, ...price } });
  }
}

function addSessionCost(cost: Cost | null, add: AddIfItFits, current: CurrentReport): void {
  const { cost: told } = current();
  if (cost?.session === undefined || told === null) return;
  const { usd } = cost.session;
  add({ cost: { ...told, session: { ...cost.session, usd: usd === null ? null : roundPrice(usd) } } });
}

/** Rounds a price to two decimals, or to four below one dollar. More digits would cost tokens. */
function roundPrice(usd: number): number {
  return Number(usd.toFixed(usd < 1 ? 4 : 2));
}

/** Adds the changes, the newest first, because they matter most. */
function addChanges(
  { changes, changesComplete }: StatusReportFacts,
  add: AddIfItFits,
  current: CurrentReport,
): void {
  for (const change of changes.slice(-MAX_CHANGES).toReversed()) {
    if (!add({ changes: [clipBridgeText(change, MAX_TEXT_CHARACTERS), ...current().changes] })) break;
  }
  add({ changesComplete: changesComplete && current().changes.length === changes.length });
}

function isRunning(call: CallView): boolean {
  return call.state === 'running';
}

/**
 * Estimates the tokens of some fields of the structured result. `RESERVED_TOKENS` covers the difference between the sum
 * of such estimates and one estimate of all fields. The text of the status is not measured, because it is always shorter.
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
function shortenAgentText(text: string, most: number): string {
  return visibleLine(text.replaceAll(/[ \t\n]+/g, ' ').trim(), most);
}

/** Shortens a text of the bridge. Parts of it that come from an agent are already escaped. */
function clipBridgeText(words: string, most: number): string {
  return words.length <= most ? words : `${words.slice(0, safeCutBefore(words, most - 1))}…`;
}
