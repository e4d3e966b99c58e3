/** What the past calls of a task would have met under a policy, beside what they met. Reads, and changes nothing. */
import type { JournalEntry, RequestedCall, TaskEvent, Verdict } from '../task/events.ts';
import { begin, fold } from '../task/fold.ts';
import { standing } from '../task/grants.ts';
import type { Snapshot } from '../task/snapshot.ts';
import type { Tool } from '../tools/tool.ts';
import type { Workspace } from '../tools/workspace.ts';
import { NO_REACH, reachOf, type Judged } from './judged-call.ts';
import type { Policy } from './policy.ts';
import { verdict } from './verdict.ts';

/** How a call fares: it runs unasked, a person is asked, or it is refused. */
export type Fate = 'allow' | 'ask' | 'refuse';

export interface TriedCall {
  taskId: string;
  seq: number;
  /** Milliseconds since the epoch. */
  at: number;
  tool: string;
  title: string;
  /** What was said of it then, and why; for one that was asked, what the person decided, or null. */
  met: { fate: Fate; why: string; decided: string | null };
  /** What would be said of it, with the settings and the grants its task had then. */
  meets: { fate: Fate; why: string };
}

export interface Past {
  taskId: string;
  entries: readonly JournalEntry[];
  policy: Policy;
  tool: (name: string) => Tool | undefined;
  /** Where the task worked; undefined where that is no more, and links in it cannot be followed. */
  workspace: (root: string | undefined) => Promise<Pick<Workspace, 'root' | 'locate'>>;
}

/** In the order they were asked for. Calls that could not run at all, and questions to a person, meet no policy. */
export async function tryCalls({ taskId, entries, policy, tool, workspace }: Past): Promise<TriedCall[]> {
  const [first, ...rest] = entries;
  let snapshot = first && begin(taskId, first);
  if (snapshot === undefined) return [];
  const decided = decisionsIn(entries);
  const place = await workspace(snapshot.settings.workspace);
  const tried: TriedCall[] = [];
  for (const entry of rest) {
    const { event, seq, at } = entry;
    if (event.type === 'tool.requested' && event.verdict.type !== 'question') {
      const judged = await judgedThen(event.call, tool(event.call.tool), place);
      if (judged !== undefined)
        tried.push({
          taskId,
          seq,
          at,
          tool: event.call.tool,
          title: event.call.title,
          met: { ...said(event.verdict), decided: decided.get(event.call.callId) ?? null },
          meets: said(judgedNow(judged, snapshot, { at, policy })),
        });
    }
    snapshot = fold(snapshot, entry);
  }
  return tried;
}

function judgedNow(
  call: Judged,
  snapshot: Snapshot,
  { at, policy }: { at: number; policy: Policy },
): Verdict {
  const { settings, grants } = snapshot;
  return verdict(call, { policy, settings, grants: standing(grants, at) });
}

/** @returns undefined for what is no call of the tool: it was refused before policy was asked. */
async function judgedThen(
  call: RequestedCall,
  tool: Tool | undefined,
  workspace: Pick<Workspace, 'root' | 'locate'>,
): Promise<Judged | undefined> {
  if (tool === undefined) return call.source.type === 'built-in' ? undefined : { ...call, reach: NO_REACH };
  if (!tool.schema.safeParse(call.input).success) return undefined;
  return { ...call, sideEffect: tool.sideEffect, reach: await reachOf(tool, call.input, workspace) };
}

function decisionsIn(entries: readonly JournalEntry[]): ReadonlyMap<string, string> {
  const decisions = new Map<string, string>();
  for (const { event } of entries)
    if (event.type === 'tool.decided' && !decisions.has(event.callId))
      decisions.set(event.callId, words(event));
  return decisions;
}

function words({ decision, scope, by }: Extract<TaskEvent, { type: 'tool.decided' }>): string {
  return `${decision}${scope === 'once' ? '' : ` (${scope})`} by ${by.principal} over ${by.channel}`;
}

function said(verdictSaid: Verdict): { fate: Fate; why: string } {
  switch (verdictSaid.type) {
    case 'ask':
      return { fate: 'ask', why: verdictSaid.rule ?? 'nothing allows it' };
    case 'question':
      return { fate: 'ask', why: 'it is a question' };
    case 'refuse':
      return { fate: 'refuse', why: verdictSaid.message };
    case 'allow':
      return { fate: 'allow', why: whyAllowed(verdictSaid) };
  }
}

function whyAllowed({ because }: Extract<Verdict, { type: 'allow' }>): string {
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
