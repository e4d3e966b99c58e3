/**
 * Observations of an agent that reports a turn in pieces (gemini-cli). Here, a turn is all that the agent does after a
 * text message from the person, until it needs the next one. No single event contains all pending calls of the task,
 * and the state alone does not show whether a turn has ended. `fold-turn-observation.ts` combines the pieces.
 */
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import type { FileProposal, AgentProposal } from './unbound-proposal.ts';
import type { PlainTextQuestion } from './plain-text-question.ts';

export interface TaskAndSessionId {
  taskId: string;
  sessionId: string;
}

export type TurnObservation = TaskAndSessionId &
  (
    | { type: 'said'; text: string }
    /** The turn continues. `text` describes the current work; null if the agent does not report it. */
    | { type: 'moving'; text: string | null }
    /** The text of this turn, as the agent has stored it. It may be shorter than the text that the bridge has read. */
    | { type: 'account'; text: string }
    | { type: 'asked'; action: PendingAction; proposal: AgentProposal }
    /**
     * The file of a waiting call has changed since the person saw it. `action` contains a diff against the current file.
     */
    | { type: 'outdated'; action: PendingAction; file: FileProposal }
    /** These calls are decided. They wait again only if the agent asks again. */
    | { type: 'decided'; callIds: readonly string[] }
    /** The latest output of a running tool. It replaces the earlier output. */
    | { type: 'tool-output'; callId: string; text: string }
    /** The turn has failed. When it ends, the bridge asks the person this question. */
    | { type: 'troubled'; question: PlainTextQuestion }
    /**
     * The turn has ended, or the agent waits for decisions or an answer. `told` is true if the agent has reported how the
     * turn ended. Otherwise the bridge asks the person to check.
     */
    | { type: 'turn-ended'; question: PlainTextQuestion | null; told: boolean }
  );
