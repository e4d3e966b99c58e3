/**
 * Applies a policy to the past tool calls of a task, and compares its verdicts with the recorded verdicts. Changes
 * nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ApproverDemand } from '../task/approver.ts';
import type { JournalEntry, RequestedCall, TaskEvent, PolicyVerdict } from '../task/events.ts';
import { firstSnapshot, foldEntry } from '../task/fold.ts';
import { usableGrants } from '../task/grants.ts';
import type { Snapshot } from '../task/snapshot.ts';
import type { Tool } from '../tools/tool.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import { NO_RESOLVED_TARGETS, type CallFacts } from './call-facts.ts';
import type { Policy } from './create-policy.ts';
import { resolveTargets } from './resolve-targets.ts';
import { taskModeOf } from './task-mode.ts';
import { decideVerdict } from './verdict.ts';
import { countWithNoun } from '../../shared/text/one-line.ts';
import { decidedByText } from '../../shared/text/decided-by-text.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';

/**
 * A verdict of the policy. `allow`: the tool call runs without asking. `ask`: a person decides. `presence`: a person
 * can approve only with a passkey. `refuse`: the call does not run.
 */
type DryRunVerdict = 'allow' | 'ask' | 'presence' | 'refuse';

export interface PolicyDryRunCall {
  taskId: string;
  seq: number;
  /** The time of the tool call, in milliseconds since 1970. */
  at: number;
  tool: string;
  title: string;
  /** The recorded verdict and its reason. `decided` is the person's decision, or null. */
  met: ExplainedVerdict & { decided: string | null };
  /** The verdict under the given policy, with the task's settings and grants at that time. */
  meets: ExplainedVerdict;
}

interface ExplainedVerdict {
  fate: DryRunVerdict;
  why: string;
  /** What the verdict demands of the approver. */
  approver?: ApproverDemand;
}

export interface PolicyDryRunInput {
  taskId: string;
  entries: readonly JournalEntry[];
  policy: Policy;
  tool: (name: string) => Tool | undefined;
  /** Opens the task's workspace. If the directory no longer exists, the returned workspace resolves no links. */
  workspace: (root: string | undefined) => Promise<Pick<Workspace, 'root' | 'locate'>>;
}

/**
 * Applies a policy to past tool calls. Returns the recorded and the new verdict, in the order of the calls. Omits
 * questions and calls that could not run, because a policy has no verdict on them.
 */
export async function dryRunPolicy({
  taskId,
  entries,
  policy,
  tool,
  workspace,
}: PolicyDryRunInput): Promise<PolicyDryRunCall[]> {
  const [first, ...rest] = entries;
  let snapshot = first && firstSnapshot(taskId, first);
  if (snapshot === undefined) return [];
  const decided = decisionsIn(entries);
  const place = await workspace(snapshot.settings.workspace);
  const tried: PolicyDryRunCall[] = [];
  for (const entry of rest) {
    const { event, seq, at } = entry;
    if (event.type === 'tool.requested' && event.verdict.type !== 'question') {
      const judged = await judgedThen(event.call, tool(event.call.tool), {
        workspace: place,
        signal: new AbortController().signal,
        acceptsEdits: taskModeOf(snapshot.settings) === 'accept-edits',
      });
      if (judged !== undefined)
        tried.push({
          taskId,
          seq,
          at,
          tool: event.call.tool,
          title: event.call.title,
          met: { ...explainVerdict(event.verdict), decided: decided.get(event.call.callId) ?? null },
          meets: explainVerdict(judgedNow(judged, snapshot, { at, policy })),
        });
    }
    snapshot = foldEntry(snapshot, entry);
  }
  return tried;
}

function judgedNow(
  call: CallFacts,
  snapshot: Snapshot,
  { at, policy }: { at: number; policy: Policy },
): PolicyVerdict {
  const grants = usableGrants(snapshot, { now: at, approver: policy.approver });
  return decideVerdict(call, { policy, settings: snapshot.settings, grants });
}

/**
 * Collects the facts of a past tool call. Returns undefined for an unknown built-in tool, and for an input that does
 * not fit the tool's schema: the server refused such a call without a verdict. If a tool of an MCP server or an ACP
 * agent is unknown, its targets are unknown too.
 */
async function judgedThen(
  call: RequestedCall,
  tool: Tool | undefined,
  context: Parameters<typeof resolveTargets>[2],
): Promise<CallFacts | undefined> {
  if (tool === undefined)
    return call.source.type === 'built-in' ? undefined : { ...call, reach: NO_RESOLVED_TARGETS };
  if (!tool.schema.safeParse(call.input).success) return undefined;
  return { ...call, sideEffect: tool.sideEffect, reach: await resolveTargets(tool, call.input, context) };
}

function decisionsIn(entries: readonly JournalEntry[]): ReadonlyMap<string, string> {
  const decisions = new Map<string, string>();
  for (const { event } of entries)
    if (event.type === 'tool.decided' && !decisions.has(event.callId))
      decisions.set(event.callId, decisionText(event));
  return decisions;
}

function decisionText({ decision, scope, by }: Extract<TaskEvent, { type: 'tool.decided' }>): string {
  const text = decidedByText({ decision, by: by.principal, channel: by.channel });
  return scope === 'once' ? text : `${text} (${scope})`;
}

function explainVerdict(verdictSaid: PolicyVerdict): ExplainedVerdict {
  switch (verdictSaid.type) {
    case 'ask':
      return {
        fate: verdictSaid.presence === true ? 'presence' : 'ask',
        why: verdictSaid.rule ?? 'nothing allows it',
        ...(verdictSaid.approver && { approver: verdictSaid.approver }),
      };
    case 'question':
      return { fate: 'ask', why: 'it is a question' };
    case 'refuse':
      return { fate: 'refuse', why: verdictSaid.message };
    case 'allow':
      return { fate: 'allow', why: whyAllowed(verdictSaid) };
  }
}

function whyAllowed({ because }: Extract<PolicyVerdict, { type: 'allow' }>): string {
  switch (because.type) {
    case 'read-only':
      return 'no side effects';
    case 'auto-execute':
      return 'mode auto';
    case 'accept-edits':
      return 'mode accept-edits';
    case 'rule':
      return because.rule;
    case 'grant':
      return `grant ${because.grantId ?? `given with ${because.callId}`}`;
  }
}

interface DryRunSummary {
  calls: number;
  tasks: number;
  /** The number of tool calls for each verdict of the given policy. */
  now: Record<DryRunVerdict, number>;
  /** The number of tool calls for each changed verdict, e.g. `ask → allow`, or `ask, with another approver`. */
  changed: Record<string, number>;
}

export function summarizePolicyDryRun(tried: readonly PolicyDryRunCall[]): DryRunSummary {
  const now = { allow: 0, ask: 0, presence: 0, refuse: 0 };
  const changed: Record<string, number> = {};
  for (const call of tried) {
    now[call.meets.fate] += 1;
    if (!isVerdictChanged(call)) continue;
    const { met, meets } = call;
    const change =
      met.fate === meets.fate ? `${meets.fate}, with another approver` : `${met.fate} → ${meets.fate}`;
    changed[change] = (changed[change] ?? 0) + 1;
  }
  return { calls: tried.length, tasks: new Set(tried.map(({ taskId }) => taskId)).size, now, changed };
}

export function isVerdictChanged({ met, meets }: PolicyDryRunCall): boolean {
  return met.fate !== meets.fate || hasOtherApprover({ met, meets });
}

/** True if a person decides under the given policy, and the demand on the approver differs from the recorded one. */
function hasOtherApprover({ met, meets }: Pick<PolicyDryRunCall, 'met' | 'meets'>): boolean {
  const approves = meets.fate === 'ask' || meets.fate === 'presence';
  return approves && !isDeepStrictEqual(met.approver, meets.approver);
}

const FATES: Readonly<Record<DryRunVerdict, string>> = {
  allow: 'runs unasked',
  ask: 'asks',
  presence: 'asks with presence',
  refuse: 'is refused',
};
const FATES_THEN: Readonly<Record<DryRunVerdict, string>> = {
  allow: 'ran unasked',
  ask: 'asked',
  presence: 'asked with presence',
  refuse: 'was refused',
};

export function policyDryRunCallText(call: PolicyDryRunCall): string {
  const { taskId, seq, at, tool, title, met, meets } = call;
  const decided =
    met.fate === 'ask' || met.fate === 'presence' ? `: ${met.decided ?? 'not decided'}` : ` (${met.why})`;
  return [
    `${isVerdictChanged(call) ? '*' : ' '} ${new Date(at).toISOString()} ${taskId} #${seq} ${tool}: ${visibleLine(title, 200)}`,
    `    then  ${FATES_THEN[met.fate]}${visibleLine(decided, 400)}`,
    `    now   ${FATES[meets.fate]} (${visibleLine(meets.why, 400)})`,
  ].join('\n');
}

export function policyDryRunSummaryText({ calls, tasks, now, changed }: DryRunSummary): string {
  const changes = Object.entries(changed).map(([change, times]) => `${change} ${times}`);
  return [
    `${countWithNoun(calls, 'call')} of ${countWithNoun(tasks, 'task')}: ${now.allow} would run without a question, ${now.ask} would ask, ${now.presence === 0 ? '' : `${now.presence} would demand presence, `}${now.refuse} would be refused.`,
    changes.length === 0 ? 'No verdict changes.' : `Changed verdicts (marked *): ${changes.join(', ')}.`,
  ].join('\n');
}
