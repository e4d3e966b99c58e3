/**
 * Observations of an agent that reports a turn in pieces. No single event reports everything that a task waits for. A
 * state alone does not show the end of a turn. `fold-turn.ts` combines the pieces.
 */
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import type { FileProposal, Proposal } from './proposal.ts';
import type { Question } from './question-form.ts';

export type TurnObservation = { taskId: string; sessionId: string } & (
  | /** The turn continues. `text`: what the agent does now, in words; null if it does not say. */ {
      type: 'moving';
      text: string | null;
    }
    /** The next piece of the agent's answer. */
  | { type: 'said'; text: string }
  /** The text of this turn in the agent's memory. It may be shorter than the text that the bridge has read. */
  | { type: 'account'; text: string }
  /** One more call waits for a decision. */
  | { type: 'asked'; action: PendingAction; proposal: Proposal }
  /** The file of a waiting call has changed since it was shown. `action`: the call against the current file. */
  | { type: 'outdated'; action: PendingAction; file: FileProposal }
  /** These calls have been decided. Only the agent can make them wait again. */
  | { type: 'decided'; callIds: readonly string[] }
  /** The last output of a running tool. It replaces the earlier output. */
  | { type: 'tool-output'; callId: string; text: string }
  /** The turn failed. When it ends, the bridge asks the person how to continue. */
  | { type: 'troubled'; question: Question }
  /**
   * The agent waits for decisions or an answer, or its turn is over. `told`: the agent reported how the turn ended. If
   * it did not, the bridge asks the person to check.
   */
  | { type: 'turn-ended'; question: Question | null; told: boolean }
);
