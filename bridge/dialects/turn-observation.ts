/**
 * What a client learns from an agent that tells of a turn piece by piece: no event of its says all that a task waits for,
 * and a state alone does not say whether the turn has ended. A fold puts the pieces together.
 */
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import type { FileProposal, Proposal } from './proposal.ts';
import type { Question } from './question-form.ts';

export type TurnObservation = { taskId: string; sessionId: string } & (
  | /** The turn goes on. `text`: what the agent is at, in words; null where it does not say. */ {
      type: 'moving';
      text: string | null;
    }
    /** The next piece of the agent's answer. */
  | { type: 'said'; text: string }
  /** All the agent remembers to have said in this turn, which may be less than was heard. */
  | { type: 'account'; text: string }
  /** A call waits for a decision, beside those that are known to. */
  | { type: 'asked'; action: PendingAction; proposal: Proposal }
  /** The file of a call that waits has changed since it was shown: the action, shown against the file as it is now. */
  | { type: 'outdated'; action: PendingAction; file: FileProposal }
  /** These calls have been decided; whether they wait again is for the agent to say. */
  | { type: 'decided'; callIds: readonly string[] }
  /** The last output of a running tool, in place of what was known of it. */
  | { type: 'tool-output'; callId: string; text: string }
  /** Something went wrong in the turn: once it ends, the person is asked how to go on. */
  | { type: 'troubled'; question: Question }
  /**
   * The agent waits: for decisions where calls wait for them, for words where it says some, and else its turn is over.
   * `told`: how it ended is known; otherwise the person is asked to look.
   */
  | { type: 'turn-ended'; question: Question | null; told: boolean }
);
