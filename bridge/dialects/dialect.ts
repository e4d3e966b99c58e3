/**
 * How one kind of A2A agent phrases pending actions and takes decisions. Pure: a dialect reads and writes messages and
 * never sends one. Which dialect an agent speaks is read from its card.
 */
import type { Part, StreamResponse } from '@a2a-js/sdk';
import type { Decision, PendingAction, TaskSettings } from '../../shared/protocol/tool-approval.ts';
import type { Observed, Question } from './observation.ts';

/** A decision in the words of the MCP tool that are also known to a dialect: on a call, or the answer to a question. */
export type Verdict =
  { type: 'decision'; decision: Decision } | { type: 'answer'; callId: string; answer: string };

/** What the task was waiting for when it was shown. */
export interface Asked {
  pending: readonly PendingAction[];
  question: Question | null;
}

/** The content of a message to the agent; who sends it adds ids and the task it belongs to. */
export interface Phrase {
  parts: Part[];
  metadata: Record<string, unknown> | undefined;
}

export interface Dialect {
  readonly name: 'tool-approval' | 'plain';
  /** What of `TaskSettings` the agent cannot be told; the person should know. */
  readonly ignores: readonly (keyof TaskSettings)[];
  read(event: StreamResponse): Observed;
  /** A piece of work, or a message to a session. */
  phraseTask(text: string, settings: TaskSettings): Phrase;
  /** @throws ProductError INVALID_DECISION when the agent has no way to take such a verdict. Nothing is sent then. */
  phraseVerdicts(verdicts: readonly Verdict[], asked: Asked, channel: string): Phrase;
}
