/**
 * Folds the journal: `(snapshot, entry) → snapshot`. Total and pure. J2: the snapshot depends only on the journal, so
 * deleting a cached snapshot loses nothing. An entry that does not fit the earlier entries changes only `seq`, the time
 * and the counts.
 */
import { NO_BUDGET_USAGE, budgetUsageAfter } from './budget.ts';
import {
  foldContextEvent,
  withInputTokenCount,
  SUMMARY_NOTICE,
  UNSHORTENED_CONTEXT,
} from './shortened-context.ts';
import { createCall, stateAfterDecision, stateAfterVerdict } from './call-state.ts';
import type { Artifact, JournalEntry, PolicyVerdict, TaskEvent } from './events.ts';
import { eventCountAfter, eventCountAfterAll, NO_EVENTS } from './generation.ts';
import { grantsAfterUse, grantsGivenBy, allowingGrantId, foldRevokedGrants } from './grants.ts';
import { instructionsNote } from './instructions.ts';
import { withToolOutput } from './tool-outputs.ts';
import { withShownCodes } from './shown-code-of-call.ts';
import { addModelSpending } from './spending.ts';
import { TODO_REMINDER_NOTE } from './todo-reminder.ts';
import type { Call, Snapshot, StateName, SnapshotStatus, Turn } from './snapshot.ts';

/** Creates the first snapshot of a task. Returns undefined if the entry is not `task.created`. */
export function firstSnapshot(taskId: string, entry: JournalEntry): Snapshot | undefined {
  const { event, at, seq } = entry;
  if (event.type !== 'task.created') return undefined;
  return {
    taskId,
    sessionId: event.sessionId,
    principal: event.principal,
    settings: event.settings,
    answer: event.answer ?? 'task',
    createdAt: at,
    updatedAt: at,
    seq,
    counted: eventCountAfter(NO_EVENTS, event),
    status: { state: 'submitted' },
    exchanges: [],
    messageSeq: 0,
    queued: [],
    openTurn: null,
    instructions: [],
    calls: {},
    grants: [],
    context: UNSHORTENED_CONTEXT,
    outputs: [],
    todos: [],
    outage: null,
    turns: 0,
    spending: {},
    spent: NO_BUDGET_USAGE,
    agentSession: null,
  };
}

export function foldEntry(snapshot: Snapshot, entry: JournalEntry): Snapshot {
  return {
    ...snapshot,
    ...changesOfEvent(snapshot, entry.event, entry),
    spent: budgetUsageAfter(snapshot, entry),
    counted: eventCountAfter(snapshot.counted, entry.event),
    seq: entry.seq,
    updatedAt: entry.at,
  };
}

export function foldEntries(snapshot: Snapshot, entries: readonly JournalEntry[]): Snapshot {
  // A joined entry stands for several events. So the events are counted before they are joined.
  const counted = eventCountAfterAll(snapshot.counted, entries);
  return { ...joinText(entries).reduce(foldEntry, snapshot), counted };
}

/**
 * Folds events that are not in the journal yet, as if the next append contained them.
 * @param at the time of that append, in milliseconds since 1970
 */
export function foldNextEvents(
  snapshot: Snapshot,
  events: readonly TaskEvent[],
  at: number = snapshot.updatedAt,
): Snapshot {
  return foldEntries(
    snapshot,
    events.map((event, index) => ({ seq: snapshot.seq + 1 + index, at, event })),
  );
}

/** Folds all entries of a task. Returns undefined if there are no entries. */
export function foldAll(taskId: string, entries: readonly JournalEntry[]): Snapshot | undefined {
  const first = entries[0];
  const start = first && firstSnapshot(taskId, first);
  return start && foldEntries(start, entries.slice(1));
}

/**
 * Joins adjacent chunks of a turn's text or reasoning. The joined entry has the `seq` of the last chunk. The result of
 * the fold stays the same. Most entries are chunks, so this saves most of the work.
 */
function joinText(entries: readonly JournalEntry[]): JournalEntry[] {
  const joined: JournalEntry[] = [];
  for (const entry of entries) {
    const { event } = entry;
    const before = joined.at(-1)?.event;
    if (isDelta(event) && before?.type === event.type && before.turn === event.turn)
      joined[joined.length - 1] = { ...entry, event: { ...event, text: before.text + event.text } };
    else joined.push(entry);
  }
  return joined;
}

function isDelta(event: TaskEvent): event is Extract<TaskEvent, { type: `${string}.delta` }> {
  return event.type === 'text.delta' || event.type === 'reasoning.delta';
}

function changesOfEvent(s: Snapshot, event: TaskEvent, entry: JournalEntry): Partial<Snapshot> {
  const { at } = entry;
  switch (event.type) {
    case 'task.created':
      return {};
    case 'message.received':
      return {
        queued: [...s.queued, event.message],
        messageSeq: entry.seq,
        ...(event.by !== undefined && { otherSenders: withSender(s, event.by) }),
        ...(event.trace && { trace: event.trace }),
      };
    case 'task.working':
      return { status: { state: 'working' } };
    case 'instructions.read':
      return { instructions: event.files, status: withNote(s.status, instructionsNote(event.files)) };
    case 'turn.started':
      return {
        exchanges: [...s.exchanges, ...s.queued.map((message) => ({ type: 'message' as const, message }))],
        queued: [],
        openTurn: { turn: event.turn, model: event.model, text: '', artifacts: [], callIds: [], end: null },
        turns: event.turn,
      };
    case 'text.delta':
      return inOpenTurn(s, event.turn, (turn) => ({ ...turn, text: turn.text + event.text }));
    case 'reasoning.delta':
      return inOpenTurn(s, event.turn, (turn) => ({
        ...turn,
        reasoning: (turn.reasoning ?? '') + event.text,
      }));
    case 'artifact.updated':
      return inOpenTurn(s, event.turn, (turn) => ({
        ...turn,
        artifacts: withArtifact(turn.artifacts, event.artifact, event.append),
      }));
    case 'agent.session':
      return { agentSession: event.agentSessionId };
    case 'turn.noted':
      return s.openTurn?.turn === event.turn ? { status: withNote(s.status, event.text) } : {};
    case 'tool.requested': {
      const call = {
        ...createCall(event.call, event.turn, stateAfterVerdict(event.verdict)),
        grantId: allowingGrantId(event.verdict),
        rule: event.verdict.type === 'ask' ? (event.verdict.rule ?? null) : null,
        ...(event.verdict.type === 'ask' && event.verdict.presence && { presence: true as const }),
        ...approverOf(event.verdict),
      };
      return {
        grants: grantsAfterUse(s.grants, event.verdict),
        ...inOpenTurn(s, event.turn, (turn) => ({ ...turn, callIds: [...turn.callIds, call.callId] })),
        calls: { ...s.calls, [call.callId]: call },
      };
    }
    case 'turn.finished':
      return {
        exchanges:
          s.openTurn === null
            ? s.exchanges
            : [...s.exchanges, { type: 'turn', turn: finishedTurn(s.openTurn, event) }],
        openTurn: null,
        outage: null,
        ...(s.openTurn !== null && { spending: addModelSpending(s.spending, s.openTurn.model, event) }),
        context: withInputTokenCount(s.context, s.openTurn, event.usage),
      };
    case 'todos.reminded':
      return {
        exchanges: s.exchanges.map((each) =>
          each.type === 'turn' && each.turn.turn === event.turn
            ? { ...each, turn: { ...each.turn, reminder: event.text } }
            : each,
        ),
        status: withNote(s.status, TODO_REMINDER_NOTE),
      };
    case 'turn.abandoned':
      return { openTurn: null };
    case 'model.unavailable':
      return {
        outage: { attempts: event.attempts, until: event.until },
        status: withNote(s.status, event.text),
      };
    case 'context.summarised':
      return {
        context: foldContextEvent(s.context, event, s.turns),
        status: withNote(s.status, SUMMARY_NOTICE),
        ...(event.model !== null && { spending: addModelSpending(s.spending, event.model, event) }),
      };
    case 'context.clipped':
    case 'context.exceeded':
      return { context: foldContextEvent(s.context, event, s.turns) };
    case 'input.required':
      return {
        status: {
          state: 'input-required',
          since: waitingSince(s, at),
          pending: withShownCodes(event.pending, s.calls),
          ...(event.question !== undefined && { question: event.question }),
          ...(event.budget && { budget: event.budget }),
          ...(event.dayCost && { dayCost: event.dayCost }),
          ...(event.expiresAt !== undefined && { expiresAt: event.expiresAt }),
        },
      };
    case 'auth.required':
      return {
        status: {
          state: 'auth-required',
          since: waitingSince(s, at),
          question: event.question,
          ...(event.expiresAt !== undefined && { expiresAt: event.expiresAt }),
        },
      };
    case 'tool.decided':
      return changesOfDecision(s, event, entry);
    case 'grant.revoked':
      return foldRevokedGrants(s, event.grantIds);
    case 'tool.started':
      return ofCall(s, event.callId, (call) => ({
        ...call,
        state: { type: 'running', toolId: event.toolId, startedAt: at },
        toolId: event.toolId,
      }));
    case 'abort.requested':
      return ofCall(s, event.callId, (call) =>
        call.state.type === 'running' && call.state.toolId === event.toolId
          ? { ...call, state: { ...call.state, abort: event.reason } }
          : call,
      );
    case 'tool.asked': {
      const asking = s.calls[event.askedBy];
      const question = createCall(event.call, asking?.turn ?? s.turns, {
        type: 'waiting',
        reason: 'question',
      });
      return { calls: { ...s.calls, [question.callId]: { ...question, askedBy: event.askedBy } } };
    }
    case 'tool.withdrew':
      return ofCall(s, event.callId, (call) =>
        call.state.type === 'waiting' && call.askedBy !== null
          ? { ...call, state: { type: 'settled', result: { type: 'withdrawn' } } }
          : call,
      );
    case 'tool.output':
      return { outputs: withToolOutput(s.outputs, event) };
    case 'todos.updated':
      return { todos: event.todos, ...ofCall(s, event.callId, (call) => ({ ...call, todos: event.todos })) };
    case 'files.saved':
      return ofCall(s, event.callId, (call) => ({
        ...call,
        saved: [...(call.saved ?? []), ...event.files.map((file) => ({ ...file, at }))],
      }));
    case 'tool.finished':
      return ofCall(s, event.callId, (call) => ({
        ...call,
        state: {
          type: 'settled',
          result: { type: 'ran', toolId: event.toolId, outcome: event.outcome },
        },
      }));
    case 'process.orphaned':
    case 'workspace.unavailable':
    case 'task.queued':
      return { status: withNote(s.status, event.text) };
    case 'tool.interrupted':
      return ofCall(s, event.callId, (call) =>
        event.rerun
          ? { ...call, state: { type: 'ready' } }
          : { ...call, state: { type: 'waiting', reason: 'outcome-unknown' }, decided: null },
      );
    case 'tool.outdated':
      return ofCall(s, event.callId, (call) => ({
        ...call,
        preview: event.preview,
        basis: event.basis,
        ...(event.place !== undefined && { place: event.place }),
        state: { type: 'waiting', reason: 'content-changed' },
        decided: null,
      }));
    case 'task.completed':
      return {
        status: { state: 'completed', ...(event.message !== undefined && { message: event.message }) },
      };
    case 'task.failed':
      return {
        status: { state: 'failed', message: event.message, ...(event.tooLong && { tooLong: true }) },
        openTurn: null,
      };
    case 'task.canceled':
      return { status: { state: 'canceled', reason: event.reason, by: event.by }, openTurn: null };
    case 'task.rejected':
      return { status: { state: 'rejected', message: event.message } };
  }
}

/** Finishes the open turn. Drops its reasoning if no later request needs it. */
function finishedTurn(
  { reasoning, ...turn }: Turn,
  { end, replay }: Extract<TaskEvent, { type: 'turn.finished' }>,
): Turn {
  return { ...turn, end, ...(replay && { replay, ...(reasoning !== undefined && { reasoning }) }) };
}

function approverOf(verdict: PolicyVerdict): Pick<Call, 'approver'> {
  return 'approver' in verdict && verdict.approver ? { approver: verdict.approver } : {};
}

function withNote(status: SnapshotStatus, note: string): SnapshotStatus {
  return status.state === 'working' || status.state === 'submitted' ? { state: status.state, note } : status;
}

function withArtifact(artifacts: readonly Artifact[], artifact: Artifact, append: boolean): Artifact[] {
  const before = artifacts.find(({ artifactId }) => artifactId === artifact.artifactId);
  if (before === undefined) return [...artifacts, artifact];
  const after = append ? { ...before, parts: [...before.parts, ...artifact.parts] } : artifact;
  return artifacts.map((it) => (it === before ? after : it));
}

function inOpenTurn(s: Snapshot, turn: number, update: (turn: Turn) => Turn): Partial<Snapshot> {
  return s.openTurn?.turn === turn ? { openTurn: update(s.openTurn) } : {};
}

function ofCall(s: Snapshot, callId: string, update: (call: Call) => Call): Partial<Snapshot> {
  const call = s.calls[callId];
  return call === undefined ? {} : { calls: { ...s.calls, [callId]: update(call) } };
}

/** Returns the time since which the task waits. A further question to a waiting task does not restart this time. */
function waitingSince({ status }: Snapshot, at: number): number {
  return 'since' in status ? status.since : at;
}

function changesOfDecision(
  s: Snapshot,
  event: Extract<TaskEvent, { type: 'tool.decided' }>,
  entry: JournalEntry,
): Partial<Snapshot> {
  const call = s.calls[event.callId];
  if (call?.state.type !== 'waiting') return {};
  const next: Call = {
    ...call,
    ...event.edited,
    originalInput: event.edited ? (call.originalInput ?? call.input) : call.originalInput,
    decided: {
      decision: event.decision,
      by: event.by,
      at: entry.at,
      inputHash: event.inputHash,
      ...(event.approver && { approver: event.approver }),
      ...(event.presence && { presence: true }),
    },
    // The decision may add these demands: an edited input may match a rule that the proposed input does not match.
    ...(event.presence && { presence: true }),
    ...(event.approver && { approver: event.approver }),
    state: stateAfterDecision(event, call.state.reason),
  };
  return {
    calls: { ...s.calls, [call.callId]: next },
    grants: [...s.grants, ...grantsGivenBy(event, call, entry)],
  };
}

const STATE_OF: Partial<Record<TaskEvent['type'], StateName>> = {
  'task.created': 'submitted',
  'task.working': 'working',
  'input.required': 'input-required',
  'auth.required': 'auth-required',
  'task.completed': 'completed',
  'task.failed': 'failed',
  'task.canceled': 'canceled',
  'task.rejected': 'rejected',
};

/** Returns the task's state after these events, or undefined if they do not change the state. */
export function taskStateAfter(events: readonly TaskEvent[]): StateName | undefined {
  return events.reduce<StateName | undefined>((state, event) => STATE_OF[event.type] ?? state, undefined);
}

function withSender({ otherSenders = [] }: Snapshot, sender: string): readonly string[] {
  return otherSenders.includes(sender) ? otherSenders : [...otherSenders, sender];
}
