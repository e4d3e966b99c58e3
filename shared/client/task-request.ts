/** What a client asks for, and how it says what a person has decided: the same over A2A and over MCP. */
import type { Answer } from '../protocol/question.ts';
import type { DecisionScope, GrantLimits, TaskMode } from '../protocol/tool-approval.ts';

export interface TaskRequest {
  /** What to do, in words. */
  text: string;
  /** Goes on in this session; a new one when left out. */
  sessionId?: string | undefined;
  /** Absolute path of the directory to work in, on the agent's machine. */
  workspace?: string | undefined;
  /** Runs every tool without asking. Set it only where a person said so. */
  autoExecute?: boolean | undefined;
  /** What the task may do unasked: `ask`, `accept-edits`, `auto` (as `autoExecute`), `plan`. Set it as carefully. */
  mode?: TaskMode | undefined;
  /** A model tier (`fast`, `smart`) or a model id that the agent knows. */
  model?: string | undefined;
}

/** `shown` is the code of the question as the person saw it: keep it with what you display, and send it back (D2). */
export type Decision = { callId: string; shown: string; reason?: string | undefined } & (
  | /** Run it. The scope says for which later calls the person need not be asked; `once` when left out. */ {
      decision: 'approve';
      scope?: DecisionScope | undefined;
      /** How long that trust lasts; as long as the task when left out. */
      grant?: GrantLimits | undefined;
    }
    /** Do not; the agent goes on without. */
  | { decision: 'deny' }
  /** Run it with this input in place of the agent's. */
  | { decision: 'edit'; input: Record<string, unknown> }
  /** Write this text in place of the agent's, for tools that write a file. */
  | { decision: 'edit'; content: string }
  /** What the person says to a question: their words, a choice, several choices, or the values of its form. */
  | { decision: 'answer'; answer: Answer }
);

/** The answer to an abort, over every transport. `success` is false for one that has ended, or that nobody knows. */
export interface AbortAnswer {
  success: boolean;
  message: string;
}
