/**
 * The generation of a task (A2A 1.1, the branch `dev-1.1`, §3.2.7): the number of the task's events that a client can
 * see. It starts at 1, with `task.created`, and grows by exactly 1 with each event.
 *
 * The count is not stored. It is a fold of the journal, so it is the same on every replay, after every restart and on
 * every server. A type of event that clients do not see must stay hidden, because the generations of existing tasks
 * depend on it.
 */
import type { CommandRefusal } from './command-outcome.ts';
import type { JournalEntry, TaskEvent } from './events.ts';
import type { Snapshot } from './snapshot.ts';

/** The types of events that no client gets. */
const HIDDEN_EVENT_TYPES = [
  'message.received',
  'abort.requested',
  'files.saved',
  'context.clipped',
  'context.exceeded',
  // The task's status lists the current grants, so a revoked grant needs no event.
  'grant.revoked',
  'agent.session',
] as const satisfies readonly TaskEvent['type'][];

type HiddenEvent = Extract<TaskEvent, { type: (typeof HIDDEN_EVENT_TYPES)[number] }>;

const hidden: ReadonlySet<string> = new Set(HIDDEN_EVENT_TYPES);

export function isHiddenEvent(event: TaskEvent): event is HiddenEvent {
  return hidden.has(event.type);
}

/** The number of events up to a position of the journal. */
export interface EventCount {
  /** The number of events that every client gets. */
  shown: number;
  /** The number of events with the model's reasoning. Only clients that request reasoning get them. */
  reasoning: number;
}

export const NO_EVENTS: EventCount = { shown: 0, reasoning: 0 };

export function eventCountAfter(count: EventCount, event: TaskEvent): EventCount {
  if (isHiddenEvent(event)) return count;
  return event.type === 'reasoning.delta'
    ? { ...count, reasoning: count.reasoning + 1 }
    : { ...count, shown: count.shown + 1 };
}

export function eventCountAfterAll(count: EventCount, entries: readonly JournalEntry[]): EventCount {
  let { shown, reasoning } = count;
  for (const { event } of entries)
    if (event.type === 'reasoning.delta') reasoning += 1;
    else if (!isHiddenEvent(event)) shown += 1;
  return { shown, reasoning };
}

/** The settings of a client that decide which events it gets. */
export interface EventVisibility {
  /** True if the client requests reasoning. */
  thinking?: boolean;
}

/**
 * Returns the generation for this client. A client that requests reasoning gets more events, so its generations are
 * higher. Each client therefore sees no gap, and no number twice.
 */
export function generationOf(
  { shown, reasoning }: EventCount,
  { thinking = false }: EventVisibility,
): number {
  return thinking ? shown + reasoning : shown;
}

/** The generation that the sender of a message expects. */
export interface ExpectedGeneration extends EventVisibility {
  generation: number;
}

/** Refuses a message whose sender expects another generation (dev-1.1 §3.2.2, `ifGenerationMatch`). */
export function generationMismatchRefusal(
  { taskId, counted }: Pick<Snapshot, 'taskId' | 'counted'>,
  expected: ExpectedGeneration | undefined,
): CommandRefusal | undefined {
  if (expected === undefined) return undefined;
  const current = generationOf(counted, expected);
  if (current === expected.generation) return undefined;
  return {
    type: 'refuse',
    reason: 'TASK_GENERATION_MISMATCH',
    message: `Task ${taskId} is at generation ${current}, not ${expected.generation}. Nothing was changed. Get the task, and send the message again if it still fits.`,
    facts: { taskId, expectedGeneration: String(expected.generation), currentGeneration: String(current) },
  };
}
